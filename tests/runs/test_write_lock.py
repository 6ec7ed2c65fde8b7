"""On SQLite one thread of a process writes at a time, and waits have a limit."""

from __future__ import annotations

import threading
import time

from sqlalchemy import create_engine, event, text

from app.runs.db import WRITE_LOCK_SECONDS, write_lock, write_transaction
from tests.waiting import LONG


def test_threads_that_write_at_once_never_find_the_database_locked(tmp_path):
    """The busy timeout of their connections is zero."""
    engine = create_engine(f"sqlite:///{tmp_path}/turns.sqlite3")

    @event.listens_for(engine, "connect")
    def _disable_busy_timeout(connection, record) -> None:
        connection.execute("PRAGMA busy_timeout = 0")

    with write_transaction(engine) as connection:
        connection.execute(text("CREATE TABLE counts (n INTEGER)"))
        connection.execute(text("INSERT INTO counts VALUES (0)"))
    failed = []

    def count() -> None:
        try:
            for _ in range(20):
                with write_transaction(engine) as connection:
                    connection.execute(text("UPDATE counts SET n = n + 1"))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(LONG)
    with engine.connect() as connection:
        assert (connection.scalar(text("SELECT n FROM counts")), failed) == (160, [])
    engine.dispose()


def test_a_transaction_that_raises_releases_the_lock(sessions):
    engine = sessions.kw["bind"]
    try:
        with write_transaction(engine) as connection:
            connection.execute(text("CREATE TABLE lost (n INTEGER)"))
            connection.execute(text("INSERT INTO lost VALUES (1)"))
            raise KeyError
    except KeyError:
        pass
    began = time.monotonic()
    with write_lock(engine):
        assert time.monotonic() - began < WRITE_LOCK_SECONDS / 2
