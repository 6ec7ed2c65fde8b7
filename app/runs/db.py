"""Access to the database: engine settings, error messages, write transactions and time."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker
from sqlalchemy.sql.functions import FunctionElement

from app.config import FLASK, make
from app.domain.errors import HopcheckError
from app.runs.schema_version import is_newest

UPGRADE_COMMAND = f"{make('setup')}, or {FLASK} db upgrade"

WRITE_LOCK_SECONDS = 10.0
"""A thread that waits longer continues without the lock, and then waits for SQLite's own lock (`busy_timeout`)."""


class Base(DeclarativeBase):
    """The base class of all tables."""

    if TYPE_CHECKING:
        __table__: ClassVar[sa.Table]


@sa.event.listens_for(sa.Engine, "connect")
def _tune_sqlite(connection: Any, _record: Any) -> None:
    """Set SQLite up for several threads and processes: readers beside one writer, lock waits, foreign keys.

    NORMAL is safe against a killed process; a power cut can lose the last commits but never damages the file.
    busy_timeout comes first, because the switch to WAL may itself have to wait.
    """
    if isinstance(connection, sqlite3.Connection):
        for pragma in ("busy_timeout = 10000", "journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")


_BY_SQLITE_CODE = {
    "SQLITE_BUSY": "The database is busy: another program holds it locked.",
    "SQLITE_LOCKED": "The database is busy: another program holds it locked.",
    "SQLITE_FULL": "The disk that holds the database is full. Make room there.",
    "SQLITE_READONLY": "The database is read-only. Make its file and its folder writable.",
    "SQLITE_CANTOPEN": "The database cannot be opened. Its folder must be there and be writable.",
    "SQLITE_IOERR": "The disk that holds the database reports an error. Look at the disk.",
    "SQLITE_CORRUPT": "The database's file is damaged. Put a backup in its place.",
    "SQLITE_NOTADB": "The database's file is no database. Put a backup in its place.",
}
_MISSING_IN_SQLITE = ("no such table", "no such column", "has no column named")
_OLD_SCHEMA = f"The database does not have the tables of this version of Hopcheck. Fix it with: {UPGRADE_COMMAND}"
_NOT_REACHABLE = "The database does not answer. See that it runs and that DATABASE_URL is right."
_BY_POSTGRESQL_STATE = {
    "42P01": _OLD_SCHEMA,  # undefined table
    "42703": _OLD_SCHEMA,  # undefined column
    "25006": "The database takes no writes: it is a standby, or set to read-only.",
    "53100": _BY_SQLITE_CODE["SQLITE_FULL"],
    "57P01": _NOT_REACHABLE,  # shut down by its administrator
    "57P02": _NOT_REACHABLE,  # crashed
    "57P03": _NOT_REACHABLE,  # starting
}


class DatabaseUnavailable(HopcheckError):
    """The database cannot be used now. The message says in a sentence or two what is wrong and how to fix it."""


def describe_db_error(error: BaseException | None) -> DatabaseUnavailable | None:
    """Return the explanation of a driver's error, or None if it is not a problem of the database itself."""
    if (name := getattr(error, "sqlite_errorname", None)) is not None:
        description = _BY_SQLITE_CODE.get("_".join(name.split("_")[:2]))
    elif (state := getattr(error, "sqlstate", None)) in _BY_POSTGRESQL_STATE:
        description = _BY_POSTGRESQL_STATE[state]
    else:
        # A lost connection (PEP 249); psycopg's subclasses are errors of one statement, such as a deadlock.
        description = _NOT_REACHABLE if type(error).__name__ == "OperationalError" else None
    if name == "SQLITE_ERROR" and any(words in str(error) for words in _MISSING_IN_SQLITE):
        description = _OLD_SCHEMA
    return DatabaseUnavailable(description) if description else None


@sa.event.listens_for(sa.Engine, "handle_error", retval=True)
def _translate_error(context: sa.ExceptionContext) -> DatabaseUnavailable | None:
    """Translate the errors of all engines into messages for pages, runs and the command line.

    A failed pre-ping is not translated, because the pool then makes a new connection.
    """
    return None if context.is_pre_ping else describe_db_error(context.original_exception)


_write_locks: WeakKeyDictionary[sa.Engine, threading.Lock] = WeakKeyDictionary()
_creating_lock = threading.Lock()


def engine_of(sessions: sessionmaker[Session]) -> sa.Engine:
    """Return the engine that these sessions are bound to, without connecting."""
    return cast(sa.Engine, sessions().get_bind())


@contextmanager
def write_lock(engine: sa.Engine) -> Iterator[None]:
    """Let one thread of this process write at a time, on SQLite. Not reentrant.

    Without it, a writer that finds SQLite locked sleeps for up to a tenth of a second, and other writers overtake it.
    Taken by frequent writers (events, model calls, new leases); rare writes go without it and wait in SQLite.
    """
    if engine.dialect.name != "sqlite":
        yield
        return
    with _creating_lock:
        lock = _write_locks.setdefault(engine, threading.Lock())
    is_acquired = lock.acquire(timeout=WRITE_LOCK_SECONDS)
    try:
        yield
    finally:
        if is_acquired:
            lock.release()


@contextmanager
def write_transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a transaction under the write lock and commit it at the end of the block, unless it raises.

    For statements on `__table__`, not on mapped classes: they take a third less time on a connection than in a session.
    """
    with write_lock(engine), engine.begin() as connection:
        yield connection


def changes_row(sessions: sessionmaker[Session], statement: sa.Update | sa.Delete) -> bool:
    """Execute a statement for at most one row in one commit; return whether there was such a row."""
    with sessions.begin() as session:
        return session.execute(statement.returning(sa.literal(1))).one_or_none() is not None


class UtcDateTime(sa.TypeDecorator[datetime]):
    """An aware time, stored as naive UTC because SQLite has no time zones."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value.astimezone(UTC).replace(tzinfo=None) if value else None

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value else None


@dataclass(frozen=True, slots=True)
class MonotonicClock:
    """A clock that starts at a time of the database and advances with this process's monotonic clock.

    It times the events of a lease holder, because the database's clock may be set forward or back.
    """

    started_at: datetime
    _ticks: float = field(default_factory=time.monotonic)

    def now(self) -> datetime:
        """Return the start time plus the time passed since."""
        return self.started_at + timedelta(seconds=time.monotonic() - self._ticks)


class _DatabaseTime(FunctionElement[Any]):
    type = UtcDateTime()
    inherit_cache = True


def database_now(plus_seconds: float = 0.0) -> _DatabaseTime:
    """Return an expression for the database's UTC time at execution, shifted by `plus_seconds`.

    The clocks of several servers may differ, so the time of the database that they share is used.
    """
    return _DatabaseTime(sa.cast(sa.literal(plus_seconds), sa.Float))


@compiles(_DatabaseTime, "sqlite")
def _in_sqlite(element: _DatabaseTime, compiler: Any, **options: Any) -> str:
    """Return the time in the text format of SQLAlchemy's SQLite columns, so that SQLite can compare them as text."""
    seconds = compiler.process(element.clauses, **options)
    return f"strftime('%Y-%m-%d %H:%M:%f000', 'now', {seconds} || ' seconds')"


@compiles(_DatabaseTime, "postgresql")
def _in_postgresql(element: _DatabaseTime, compiler: Any, **options: Any) -> str:
    """Return the current time; PostgreSQL's now() is that of the transaction's start."""
    seconds = compiler.process(element.clauses, **options)
    return f"((clock_timestamp() AT TIME ZONE 'utc') + make_interval(secs => {seconds}))"


LOCK_TIMEOUT_SECONDS = 2
"""A lock held longer than this is reported; appending an event holds it for milliseconds."""


def check_database(url: str) -> None:
    """Raise DatabaseUnavailable unless the database answers, is undamaged, current and writable. Changes nothing."""
    try:
        parts = sa.make_url(url)
        is_sqlite = parts.get_backend_name() == "sqlite"
        if is_sqlite and not Path(parts.database or "").exists():
            raise DatabaseUnavailable(f"{parts.database} is not there. Fix it with: {make('setup')}")
        engine = sa.create_engine(url)
        with engine.connect() as connection:
            if is_sqlite:
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {LOCK_TIMEOUT_SECONDS * 1000}")
                found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
                if found != "ok":
                    raise DatabaseUnavailable(f"{parts.database} is damaged: {found}. Put a backup in its place.")
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                connection.exec_driver_sql("PRAGMA user_version = 0")  # BEGIN alone succeeds on a read-only database
                connection.rollback()
        engine.dispose()
    except (SQLAlchemyError, ImportError) as error:  # an unknown kind of database, a driver that is not installed
        raise DatabaseUnavailable(f"The database cannot be used ({type(error).__name__}).") from None
    if not is_newest(url):
        raise DatabaseUnavailable(_OLD_SCHEMA)
