"""Connections for what happens at every call of every run, and whose turn it is to write.

A session keeps objects in step with their rows. Who asks a statement that was built before needs no objects, and
without a session SQLAlchemy takes a third less time for it.

SQLite lets one write at a time. Who finds it locked sleeps, up to a tenth of a second at once, while others slip in; so
the threads of a process take turns before they ask it. Other processes are left to SQLite, and PostgreSQL to itself.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session, sessionmaker

TURN_SECONDS = 10.0
"""Who waits longer for a turn asks without one: then another process holds the database, and SQLite says so."""

_turns: WeakKeyDictionary[Engine, threading.Lock] = WeakKeyDictionary()
_making = threading.Lock()


def engine_of(sessions: sessionmaker[Session]) -> Engine:
    """The engine that these sessions are bound to. Nothing connects."""
    return cast(Engine, sessions().get_bind())


@contextmanager
def turn(engine: Engine) -> Iterator[None]:
    """The block is this thread's turn to write. Not to be nested: the inner one would wait in vain."""
    if engine.dialect.name != "sqlite":
        yield
        return
    with _making:
        lock = _turns.setdefault(engine, threading.Lock())
    taken = lock.acquire(timeout=TURN_SECONDS)
    try:
        yield
    finally:
        if taken:
            lock.release()


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes, in its turn; committed at the end of the block unless it raises."""
    with turn(engine), engine.begin() as connection:
        yield connection
