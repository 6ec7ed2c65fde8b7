"""Which replies of the site's cache a run has made or used, so that they can go when the run is deleted."""

from __future__ import annotations

import logging
from typing import Any

from sqlalchemy import Connection, String, bindparam, exists, insert, select
from sqlalchemy.orm import Session, sessionmaker

from app.domain.calls import Call
from app.runs.db import engine_of, write_transaction
from app.runs.tables import RunCallRow, RunRow

log = logging.getLogger(__name__)

_runs, _noted = RunRow.__table__.c, RunCallRow.__table__.c
_KNOWN = exists().where(_noted.run_id == bindparam("run"), _noted.key == bindparam("call"))
_NOTE = insert(RunCallRow.__table__).from_select(
    ("run_id", "key"),
    select(_runs.id, bindparam("call", type_=String)).where(_runs.id == bindparam("run"), ~_KNOWN),
)


class RunCalls:
    """A `calls.Memory` of one run that remembers keys alone; it stands before the cache that it keeps account of.

    A memory hears of every reply that it did not have itself, whether a later one had it or it had to be made. What
    the cache does not keep, calls that cost nothing, is left out. One that fails says so in the log once.
    """

    def __init__(self, sessions: sessionmaker[Session], run_id: str) -> None:
        self._engine = engine_of(sessions)
        self._run_id = run_id
        self._well = True

    def recall(self, call: Call) -> None:
        """Nothing: no reply is kept here."""

    def keep(self, call: Call, reply: Any) -> None:
        """Note that the run has used this reply, before it comes into the cache."""
        try:
            with write_transaction(self._engine) as connection:
                self.write(connection, call, reply)
        except Exception:  # whatever is wrong with the account, the call itself is well
            if self._well:
                log.exception(
                    "run %s: its calls cannot be noted; deleting it may leave replies in the cache", self._run_id
                )
            self._well = False

    def write(self, connection: Connection, call: Call, reply: Any) -> None:
        """Note it as part of the connection's transaction."""
        if call.costly:
            connection.execute(_NOTE, {"run": self._run_id, "call": call.key})
