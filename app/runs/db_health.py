"""Check a database without changing it: does it exist, is it migrated, undamaged and writable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from app.runs.db import DatabaseUnavailable, describe_db_error
from app.runs.schema_version import MIGRATIONS, newest_revision

LOCK_SECONDS = 2
"""A run that appends holds the lock for milliseconds."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a database; with a `problem` the other fields are not filled in."""

    where: str
    problem: str = ""
    """The reason why it cannot be used, "" if it can."""
    is_missing: bool = False
    revision: str | None = None
    newest: str | None = None
    damage: str = ""
    """The first line of SQLite's integrity_check, "" for "ok"."""
    journal: str | None = None
    """SQLite's journal mode."""
    is_locked: bool = False


def check_database(url: str, migrations: Path = MIGRATIONS) -> Condition:
    """Return the condition of the database at `url`. Raises nothing for a broken one."""
    parts = make_url(url)
    is_sqlite = parts.get_backend_name() == "sqlite"
    seen = Condition(parts.database or "" if is_sqlite else parts.render_as_string(hide_password=True))
    if is_sqlite and not Path(seen.where).exists():
        return replace(seen, is_missing=True)
    newest = newest_revision(migrations)
    try:
        engine = create_engine(url)
        try:
            with engine.connect() as connection:
                revision = MigrationContext.configure(connection).get_current_revision()
                seen = replace(seen, newest=newest, revision=revision)
                return _sqlite(connection, seen) if is_sqlite else seen
        finally:
            engine.dispose()
    except DatabaseUnavailable as error:
        return replace(seen, problem=str(error))
    except (SQLAlchemyError, ImportError) as error:  # an unknown kind of database, a driver that is not installed
        return replace(seen, problem=f"The database cannot be used ({type(error).__name__}).")


def _sqlite(connection: Connection, seen: Condition) -> Condition:
    found = connection.scalars(text("PRAGMA integrity_check(1)")).first()
    journal = connection.scalar(text("PRAGMA journal_mode"))
    connection.execute(text(f"PRAGMA busy_timeout = {LOCK_SECONDS * 1000}"))
    connection.rollback()
    raw: Any = connection.connection.driver_connection  # a sqlite3.Connection
    is_locked = False
    try:
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("PRAGMA user_version = 0")  # rolled back; BEGIN alone succeeds on a read-only database
        raw.execute("ROLLBACK")
    except Exception as error:  # the driver's own, which SQLAlchemy does not translate
        if "locked" not in str(error):
            raise describe_db_error(error) or error from None
        is_locked = True
    return replace(seen, damage="" if found == "ok" else str(found), journal=journal, is_locked=is_locked)
