"""The application of steady.py as on a machine with a wrong clock or with code of another version.

CLOCK_AHEAD is the number of seconds that the clock is ahead, SCHEMA_VERSION the version of events that the code reads.
Both are set before the application is imported, as they would be on such a machine.
"""

from __future__ import annotations

import datetime
import os
import time
from typing import Any


def odd_app(commands: bool = False) -> Any:
    """Set the clock and the version, and return the application of steady.py."""
    _set_clock(float(os.environ.get("CLOCK_AHEAD", "0")))
    from app.domain import events

    events.SCHEMA_VERSION = int(os.environ.get("SCHEMA_VERSION", events.SCHEMA_VERSION))
    from app.runs import event_store

    event_store.SCHEMA_VERSION = events.SCHEMA_VERSION  # where it was imported before, it has the version of the code
    from tests.faults.steady import steady_app

    return steady_app(commands)


def _set_clock(ahead: float) -> None:
    """Move the wall clock of this process `ahead` seconds forward; the monotonic clock is not changed."""
    right, right_ns, right_datetime = time.time, time.time_ns, datetime.datetime

    class Datetime(right_datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            return right_datetime.now(tz) + datetime.timedelta(seconds=ahead)

    if ahead:
        time.time = lambda: right() + ahead
        time.time_ns = lambda: right_ns() + int(ahead * 1e9)
        datetime.datetime = Datetime  # type: ignore[misc]
