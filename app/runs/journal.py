"""A run's own memory of its calls: whoever takes a run over makes none of them twice.

It is kept from a run's first call to its end, whatever the site's cache keeps or forgets.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from sqlalchemy import JSON, delete, exists, insert, literal, select
from sqlalchemy.orm import Session, sessionmaker

from app.reasoning.calls import Call
from app.runs.tables import RUNNING, JournalRow, RunRow

log = logging.getLogger(__name__)


class Journal:
    """The calls of one run: a `calls.Memory`. One that fails forgets, and says so in the log once."""

    def __init__(self, sessions: sessionmaker[Session], run_id: str) -> None:
        self._sessions = sessions
        self._run_id = run_id
        self._well = True

    def recall(self, call: Call) -> Any | None:
        """The reply that this run had to this call, or None."""
        return self._trying(lambda: self._read(call.key))

    def keep(self, call: Call, reply: Any) -> None:
        """Remember a reply for as long as the run goes on."""
        self._trying(lambda: self._write(call.key, reply))

    def _read(self, key: str) -> Any | None:
        with self._sessions() as session:
            return session.scalar(
                select(JournalRow.reply).where(JournalRow.run_id == self._run_id, JournalRow.key == key)
            )

    def _write(self, key: str, reply: Any) -> None:
        """Nothing is kept for a run that has ended meanwhile, and the first reply to a call stands."""
        columns = (JournalRow.run_id, JournalRow.key, JournalRow.reply)
        known = exists().where(JournalRow.run_id == self._run_id, JournalRow.key == key)
        row = select(RunRow.id, literal(key), literal(reply, JSON)).where(
            RunRow.id == self._run_id, RunRow.state == RUNNING, ~known
        )
        with self._sessions.begin() as session:
            session.execute(insert(JournalRow).from_select(columns, row))

    def _trying(self, work: Callable[[], Any]) -> Any | None:
        try:
            return work()
        except Exception:  # whatever is wrong with the memory, the call itself is well
            if self._well:
                log.exception("run %s: its journal failed; a call may be made twice", self._run_id)
            self._well = False
            return None


def forget(session: Session, run_id: str) -> None:
    """Empty a run's journal as part of the session's transaction."""
    session.execute(delete(JournalRow).where(JournalRow.run_id == run_id))
