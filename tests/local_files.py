"""The files of the local model on this machine."""

from __future__ import annotations

from app.backends.local.base_model import LOCAL_MODELS
from app.config.settings import load_settings

FILES = LOCAL_MODELS["local-model"].files(load_settings())
"""The base and the adapters."""
