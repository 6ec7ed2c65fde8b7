"""The files of the local model on this machine."""

from __future__ import annotations

from app.backends.local.base_model import base_model_path
from app.config.settings import load_settings
from app.container.container import ADAPTERS

FILES = base_model_path(load_settings()), *ADAPTERS
"""The base and the adapters."""
