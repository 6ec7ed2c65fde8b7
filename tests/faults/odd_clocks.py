"""The application of steady.py as on a machine whose clock is CLOCK_AHEAD seconds ahead, from before its import on."""

from __future__ import annotations

import datetime
import os
import time
from typing import Any


def odd_app(commands: bool = False) -> Any:
    """Set the clock, and return the application of steady.py."""
    _set_clock(float(os.environ["CLOCK_AHEAD"]))
    from tests.faults.steady import steady_app

    return steady_app(commands)


def _set_clock(ahead: float) -> None:
    """Move the wall clock of this process `ahead` seconds forward; the monotonic clock is not changed."""
    right, right_ns, right_datetime = time.time, time.time_ns, datetime.datetime

    class Datetime(right_datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:
            return right_datetime.now(tz) + datetime.timedelta(seconds=ahead)

    time.time = lambda: right() + ahead
    time.time_ns = lambda: right_ns() + int(ahead * 1e9)
    datetime.datetime = Datetime  # type: ignore[misc]
