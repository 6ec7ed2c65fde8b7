"""Batches with scripted runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.batches.service import Batches
from tests.fakes import scripted_container
from tests.runs.conftest import database_url, leases_with, runs_with, wait_long

__all__ = ["database_url", "leases_with", "runs_with", "wait_long"]


@pytest.fixture
def batches_with(sessions, runs_with) -> Callable[..., Batches]:
    """A function that makes the batches of one process on a container."""
    return lambda container, **more: Batches(sessions, runs_with(container, **more), more.get("workers", 2))


@pytest.fixture
def batches(batches_with) -> Batches:
    return batches_with(scripted_container())
