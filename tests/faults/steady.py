"""The real application with deterministic modules, for runs that are cut off and resumed."""

from __future__ import annotations

import os
import time
from pathlib import Path

from flask import Flask

from app import create_app
from tests.runs.steady import SteadyContainer

CALLS = 9
"""The number of calls of an undisturbed run."""


def steady_app(commands: bool = False) -> Flask:
    """Two kept hops, then SUPPORTED; each call takes STEP_SECONDS.

    The call named STUCK_IN takes ten minutes more, or until the file HELD_BY is gone. A worker needs the `commands`.
    """

    def before_step(step: str) -> None:
        if step == os.environ.get("STUCK_IN"):
            _stick(os.environ.get("HELD_BY"))
        time.sleep(float(os.environ.get("STEP_SECONDS", "0.1")))

    return create_app(container=SteadyContainer(before_step=before_step), commands=commands)


def _stick(held_by: str | None) -> None:
    over = time.monotonic() + 600
    while time.monotonic() < over and (held_by is None or Path(held_by).exists()):
        time.sleep(0.05)
