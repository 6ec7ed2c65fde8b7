"""Compare the schema version of a database with the one that the code needs.

This is done at every start, so for SQLite it imports neither SQLAlchemy nor Alembic, which take half a second.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from app.domain.errors import HopcheckError

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"

_VERSION = "select version_num from alembic_version"


def newest_revision() -> str:
    """Return the version that the code needs, from the file names of the migrations."""
    return max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py"))


def is_newest(url: str) -> bool:
    """Return whether the database at `url` has the newest version; False for a missing or broken one."""
    scheme, _, path = url.partition(":///")
    found = _in_sqlite(path.partition("?")[0]) if scheme == "sqlite" else _in_other_database(url)
    return found == newest_revision()


def _in_sqlite(path: str) -> str | None:
    try:
        # In read-only mode a missing file is not created.
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as database:
            return database.execute(_VERSION).fetchone()[0]
    except (sqlite3.Error, TypeError):  # TypeError: a table without a row
        return None


def _in_other_database(url: str) -> str | None:
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import SQLAlchemyError

    try:
        engine = create_engine(url)
        try:
            with engine.connect() as connection:
                return connection.scalar(text(_VERSION))
        finally:
            engine.dispose()
    except (HopcheckError, SQLAlchemyError, ImportError):  # ImportError: its driver is not installed
        return None
