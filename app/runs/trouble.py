"""What can be wrong with a database, in words for people.

A driver's error becomes a `DatabaseUnavailable` at the one place where all of them pass (app/extensions.py), so that a
page, a run and the command line say the same sentence, and none of them needs to know a driver.
"""

from __future__ import annotations

from app.domain.errors import HopcheckError

UPGRADE = "make setup, or flask --app app db upgrade"

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
_MISSING = ("no such table", "no such column", "has no column named")
_MISSING_STATES = ("42P01", "42703")  # PostgreSQL: undefined table, undefined column
_OLD = f"The database has not the tables of this version of Hopcheck. Mend it with: {UPGRADE}"
_NO_ANSWER = "The database does not answer. See that it runs and that DATABASE_URL is right."


class DatabaseUnavailable(HopcheckError):
    """The database cannot be used now. The message is one sentence or two: what is wrong, then what mends it."""


def trouble(error: BaseException | None) -> DatabaseUnavailable | None:
    """What a database driver's error means, or None where it is no trouble with the database itself."""
    if (name := getattr(error, "sqlite_errorname", None)) is not None:
        told = _BY_SQLITE_CODE.get("_".join(name.split("_")[:2]))
    elif getattr(error, "sqlstate", None) in _MISSING_STATES:
        told = _OLD
    else:
        # A lost connection is an OperationalError to every driver (PEP 249).
        told = _NO_ANSWER if type(error).__name__ == "OperationalError" else None
    if name == "SQLITE_ERROR" and any(words in str(error) for words in _MISSING):
        told = _OLD
    return DatabaseUnavailable(told) if told else None
