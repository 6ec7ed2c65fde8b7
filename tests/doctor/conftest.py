"""Settings for the doctor to check."""

from __future__ import annotations

import pytest

from app.config.settings import Settings


@pytest.fixture
def settings(tmp_path) -> Settings:
    """Settings with an empty instance folder."""
    (tmp_path / "instance").mkdir()
    return Settings(instance=tmp_path / "instance")
