"""A run's own memory of its calls: whoever takes a run over makes none of them twice.

It is kept from a run's first call to its end, whatever the site's cache keeps or forgets.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from sqlalchemy import JSON, Connection, String, bindparam, delete, exists, insert, select
from sqlalchemy.orm import Session, sessionmaker

from app.domain.calls import Call
from app.runs.db import engine_of, write_transaction
from app.runs.tables import RUNNING, JournalRow, RunRow

log = logging.getLogger(__name__)

# Built once, for every call of every run asks them.
_runs, _journal = RunRow.__table__.c, JournalRow.__table__.c
_OF_CALL = (_journal.run_id == bindparam("run"), _journal.key == bindparam("call"))
_RECALL = select(_journal.reply).where(*_OF_CALL)
_KEEP = insert(JournalRow.__table__).from_select(
    ("run_id", "key", "reply"),
    select(_runs.id, bindparam("call", type_=String), bindparam("said", type_=JSON)).where(
        _runs.id == bindparam("run"), _runs.state == RUNNING, ~exists().where(*_OF_CALL)
    ),
)


class Journal:
    """The calls of one run: a `calls.Memory`. One that fails forgets, and says so in the log once."""

    def __init__(self, sessions: sessionmaker[Session], run_id: str, begun: bool = True) -> None:
        """`begun` says whether calls of the run may be there already; else none is looked up but those of this one."""
        self._engine = engine_of(sessions)
        self._run_id = run_id
        self._well = True
        self._own: set[str] | None = None if begun else set()

    def recall(self, call: Call) -> Any | None:
        """The reply that this run had to this call, or None."""
        if self._own is not None and call.key not in self._own:
            return None
        return self._trying(lambda: self._read(call.key))

    def keep(self, call: Call, reply: Any) -> None:
        """Remember a reply for as long as the run goes on."""
        self._trying(lambda: self._keep(call, reply))

    def write(self, connection: Connection, call: Call, reply: Any) -> None:
        """Remember a reply as part of the connection's transaction.

        Nothing is kept for a run that has ended meanwhile, and the first reply to a call stands.
        """
        if self._own is not None:
            self._own.add(call.key)
        connection.execute(_KEEP, {"run": self._run_id, "call": call.key, "said": reply})

    def _read(self, key: str) -> Any | None:
        with self._engine.connect() as connection:
            return connection.scalar(_RECALL, {"run": self._run_id, "call": key})

    def _keep(self, call: Call, reply: Any) -> None:
        with write_transaction(self._engine) as connection:
            self.write(connection, call, reply)

    def _trying(self, work: Callable[[], Any]) -> Any | None:
        try:
            return work()
        except Exception:  # whatever is wrong with the memory, the call itself is well
            if self._well:
                log.exception("run %s: its journal failed; a call may be made twice", self._run_id)
            self._well = False
            return None


def forget(connection: Connection, run_id: str) -> None:
    """Empty a run's journal as part of the connection's transaction."""
    connection.execute(delete(JournalRow).where(JournalRow.run_id == run_id))
