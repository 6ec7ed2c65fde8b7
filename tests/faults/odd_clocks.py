"""What a machine would serve whose clock is wrong, or whose code is of another version: the steady runs of steady.py.

CLOCK_AHEAD is by how many seconds its clock is ahead, SCHEMA_VERSION which version of events it knows. Both are set
before the application is imported, as on a machine that was so from the start.
"""

from __future__ import annotations

import datetime
import os
import time
from typing import Any

from app.domain import events


def odd_app(commands: bool = False) -> Any:
    """The same application as anywhere."""
    events.SCHEMA_VERSION = int(os.environ.get("SCHEMA_VERSION", events.SCHEMA_VERSION))
    _set_clock(float(os.environ.get("CLOCK_AHEAD", "0")))
    from tests.faults.steady import steady_app

    return steady_app(commands)


def _set_clock(ahead: float) -> None:
    """Let this process believe that it is so much later; its steady clock is left alone, as a wrong one is."""
    right, right_ns, right_datetime = time.time, time.time_ns, datetime.datetime

    class Datetime(right_datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            return right_datetime.now(tz) + datetime.timedelta(seconds=ahead)

    if ahead:
        time.time = lambda: right() + ahead
        time.time_ns = lambda: right_ns() + int(ahead * 1e9)
        datetime.datetime = Datetime  # type: ignore[misc]
