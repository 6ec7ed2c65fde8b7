"""The real application with slow scripted runs, for faults that do not concern models."""

from __future__ import annotations

import os

from flask import Flask

from app import create_app
from tests.fakes import scripted_container


def scripted_app() -> Flask:
    """Two kept hops, then SUPPORTED. Each step of a run takes STEP_SECONDS; a run has eleven."""
    container = scripted_container(delay=float(os.environ.get("STEP_SECONDS", "0.1")))
    return create_app(container=container, commands=False)
