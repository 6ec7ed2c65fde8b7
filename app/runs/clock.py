"""The database's clock: several servers on one database may differ about the time, so the database tells it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Float, cast, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from app.runs.tables import UtcDateTime


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
