"""At which version the tables of a database are, and at which they should be. Looking changes nothing."""

from __future__ import annotations

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from app.runs.trouble import DatabaseUnavailable

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


def newest_revision(migrations: Path = MIGRATIONS) -> str | None:
    """The version that the code needs."""
    return ScriptDirectory(str(migrations)).get_current_head()


def revision_of(connection: Connection) -> str | None:
    """The version of the database behind `connection`; None where the tables were never made."""
    return MigrationContext.configure(connection).get_current_revision()


def is_newest(url: str) -> bool:
    """Whether the database at `url` has the newest version; False as well for one that is not there or broken."""
    parts = make_url(url)
    if parts.get_backend_name() == "sqlite" and not Path(parts.database or "").exists():
        return False  # connecting would make it
    try:
        engine = create_engine(url)
        try:
            with engine.connect() as connection:
                return revision_of(connection) == newest_revision()
        finally:
            engine.dispose()
    except (DatabaseUnavailable, SQLAlchemyError, ImportError):  # ImportError: its driver is not installed
        return False
