"""Implementations of the five roles. Backends are passed in; no module here loads a model or opens a weights file."""
