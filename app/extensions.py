"""The Flask extensions, made once and bound to an application by create_app."""

from __future__ import annotations

import sqlite3
from typing import Any

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Engine, ExceptionContext, event
from sqlalchemy.orm import DeclarativeBase

from app.runs.trouble import DatabaseUnavailable, trouble


class Base(DeclarativeBase):
    """What every table is."""


db = SQLAlchemy(model_class=Base)


@event.listens_for(Engine, "connect")
def _tune_sqlite(connection: Any, _record: Any) -> None:
    """SQLite for several threads and processes: readers beside one writer, who waits for its turn; links hold.

    NORMAL is safe against a killed process; a power cut can lose the last commits but never damages the file.
    busy_timeout comes first, for the switch to WAL itself may have to wait.
    """
    if isinstance(connection, sqlite3.Connection):
        for pragma in ("busy_timeout = 10000", "journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")


@event.listens_for(Engine, "handle_error", retval=True)
def _say_what_is_wrong(context: ExceptionContext) -> DatabaseUnavailable | None:
    """A database that is locked, full, read-only, damaged or not there is told in words, wherever it is noticed.

    Not where a pool tries whether a connection still stands: it makes a new one then.
    """
    return None if context.is_pre_ping else trouble(context.original_exception)
