"""Settings from the environment, and what is checked before the server starts."""

VERSION = "0.1.0"
"""The version of Hopcheck. pyproject.toml, the OpenAPI document and what is sent to other servers take it from here."""
