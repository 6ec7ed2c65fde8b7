"""Claim checking as plain data and protocols. Imports only the standard library and itself."""
