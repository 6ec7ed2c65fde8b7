"""Settings from the environment, with the validation of their values."""

VERSION = "0.1.0"
"""The version of Hopcheck, for pyproject.toml, the OpenAPI document and requests to other servers."""
