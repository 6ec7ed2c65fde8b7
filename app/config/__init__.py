"""Settings from the environment, and checks before the server starts."""

VERSION = "0.1.0"
"""The version of Hopcheck, for pyproject.toml, the OpenAPI document and requests to other servers."""
