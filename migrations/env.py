"""How Alembic reaches the application's database: `flask --app app db upgrade` runs this with the app at hand."""

from __future__ import annotations

from typing import Any

from alembic import context
from flask import current_app

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
        with context.begin_transaction():
            context.run_migrations()


def _drop_empty(_context: Any, _revision: Any, directives: list) -> None:
    """`db migrate` writes no file when the tables have not changed."""
    if getattr(context.config.cmd_opts, "autogenerate", False) and directives[0].upgrade_ops.is_empty():
        directives.clear()


if context.is_offline_mode():
    run_offline()
else:
    run_online()
