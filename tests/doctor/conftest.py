"""An instance folder to look at."""

from __future__ import annotations

import pytest

from app.config.settings import Settings


@pytest.fixture
def settings(tmp_path) -> Settings:
    """An instance folder of its own, with nothing in it."""
    (tmp_path / "instance").mkdir()
    return Settings(instance=tmp_path / "instance")
