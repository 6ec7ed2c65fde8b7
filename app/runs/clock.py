"""The time: several servers on one database may differ about it, so the database tells it.

The database's clock may be set as well. What must go on evenly, who holds a run and how long a run has taken, goes by
the steady clock of a process, which nobody sets.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Float, cast, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from app.runs.tables import UtcDateTime


@dataclass(frozen=True, slots=True)
class SteadyClock:
    """Begins at a time of the database's and goes on by this process's steady clock."""

    began: datetime
    _ticks: float = field(default_factory=time.monotonic)

    def now(self) -> datetime:
        """That time and what has passed since."""
        return self.began + timedelta(seconds=time.monotonic() - self._ticks)


class _DatabaseTime(FunctionElement[Any]):
    type = UtcDateTime()
    inherit_cache = True


def database_now(plus_seconds: float = 0.0) -> _DatabaseTime:
    """The time in UTC as a statement runs, or so many seconds later (earlier when below 0)."""
    return _DatabaseTime(cast(literal(plus_seconds), Float))


@compiles(_DatabaseTime, "sqlite")
def _in_sqlite(element: _DatabaseTime, compiler: Any, **options: Any) -> str:
    """Text as SQLAlchemy writes times for SQLite, which compares them as text; its clock counts milliseconds."""
    seconds = compiler.process(element.clauses, **options)
    return f"strftime('%Y-%m-%d %H:%M:%f000', 'now', {seconds} || ' seconds')"


@compiles(_DatabaseTime, "postgresql")
def _in_postgresql(element: _DatabaseTime, compiler: Any, **options: Any) -> str:
    """The clock itself: PostgreSQL's now() stands still within a transaction."""
    seconds = compiler.process(element.clauses, **options)
    return f"((clock_timestamp() AT TIME ZONE 'utc') + make_interval(secs => {seconds}))"
