"""How Alembic reaches the application's database: `flask --app app db upgrade` runs this with the app at hand.

Of several machines that migrate one database at once, one does; the others wait for it and then find nothing to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from alembic import context
from flask import current_app
from sqlalchemy import Connection, func, select

LOCK_ID = 0x4D696772617465
"""Of the PostgreSQL lock under which migrations run, one after another ("Migrate" in ASCII)."""
LOCK_SECONDS = 600

_extension = current_app.extensions["migrate"]


def run_offline() -> None:
    """Print SQL instead of running it (`--sql`)."""
    url = _extension.db.engine.url.render_as_string(hide_password=False)
    context.configure(url=url, target_metadata=_extension.db.metadata, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()


def run_online() -> None:
    """Migrate the database."""
    options: dict[str, Any] = {"process_revision_directives": _drop_empty, **_extension.configure_args}
    with _extension.db.engine.connect() as connection:
        context.configure(connection=connection, target_metadata=_extension.db.metadata, **options)
        with _sqlite_lock(connection), context.begin_transaction():
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(LOCK_ID)))
            context.run_migrations()


@contextmanager
def _sqlite_lock(connection: Connection) -> Iterator[None]:
    """Hold the lock of an empty SQLite file beside the database: migrations need the database's own lock themselves."""
    path = connection.engine.url.database
    if connection.dialect.name != "sqlite" or not path or path == ":memory:" or path.startswith("file:"):
        yield
        return
    with closing(sqlite3.connect(f"{path}-migration", timeout=LOCK_SECONDS, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield


def _drop_empty(_context: Any, _revision: Any, directives: list) -> None:
    """`db migrate` writes no file when the tables have not changed."""
    if getattr(context.config.cmd_opts, "autogenerate", False) and directives[0].upgrade_ops.is_empty():
        directives.clear()


if context.is_offline_mode():
    run_offline()
else:
    run_online()
