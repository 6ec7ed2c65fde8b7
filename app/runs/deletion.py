"""Delete runs: hidden from everyone at once, restorable by the owner for a while, then purged.

A purge deletes the run's row with its events and notes, and the stored replies that no other run has used. Branches of
a deleted run stay.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from sqlalchemy import ColumnElement, and_, delete, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.runs.call_log import delete_calls
from app.runs.db import database_now
from app.runs.idempotency import is_invalid_id
from app.runs.models import RUNNING, BatchRow, RunRow, is_visible
from app.runs.projections import RunSummary, summary

log = logging.getLogger(__name__)

UNDO_SECONDS = 600.0
"""Time within which a deleted run can be restored."""

DELETED = "Its owner deleted this check."

PURGE_LIMIT = 100
"""Runs that one purge deletes at most, because writers wait meanwhile."""


class Deletion:
    """Delete, restore and purge runs. `stop` ends an unfinished run, given its id and the reason."""

    def __init__(
        self, sessions: sessionmaker[Session], stop: Callable[[str, str], bool], undo_seconds: float = UNDO_SECONDS
    ) -> None:
        self._sessions = sessions
        self._stop = stop
        self._undo_seconds = undo_seconds

    def of_owner(self, run_id: str, owner: str) -> RunSummary | None:
        """Return the run if it is the owner's, else None; also one whose events this version cannot read."""
        if is_invalid_id(run_id):
            return None
        chosen = select(RunRow).where(RunRow.id == run_id, RunRow.owner == owner, is_visible())
        with self._sessions() as session:
            row = session.scalar(chosen)
            return summary(row) if row else None

    def delete(self, run_id: str) -> bool:
        """Stop the run if it is unfinished, and hide it. False for an unknown run."""
        self._stop(run_id, DELETED)
        hidden = (
            update(RunRow)
            .where(RunRow.id == run_id, RunRow.state != RUNNING, is_visible())
            .values(deleted_at=database_now())
        )
        with self._sessions.begin() as session:
            return session.execute(hidden.returning(RunRow.id)).one_or_none() is not None

    def restore(self, run_id: str, owner: str) -> bool:
        """Restore a deleted run of the owner. False if it is too late or unknown."""
        if is_invalid_id(run_id):
            return False
        shown = update(RunRow).where(RunRow.id == run_id, RunRow.owner == owner, self._is_restorable())
        with self._sessions.begin() as session:
            return session.execute(shown.values(deleted_at=None).returning(RunRow.id)).one_or_none() is not None

    def restorable(self, owner: str) -> tuple[RunSummary, ...]:
        """Return the owner's deleted runs that can still be restored, last deleted first."""
        chosen = select(RunRow).where(RunRow.owner == owner, self._is_restorable())
        with self._sessions() as session:
            return tuple(map(summary, session.scalars(chosen.order_by(RunRow.deleted_at.desc(), RunRow.id))))

    def purge(self) -> tuple[str, ...]:
        """Delete for good up to PURGE_LIMIT runs that can no longer be restored; return their ids."""
        return self.purge_where(RunRow.deleted_at <= database_now(-self._undo_seconds), PURGE_LIMIT)

    def purge_where(self, condition: ColumnElement[bool], limit: int | None = None) -> tuple[str, ...]:
        """Delete for good up to `limit` runs that meet the condition; return their ids."""
        with self._sessions() as session:
            run_ids = tuple(session.scalars(select(RunRow.id).where(condition).limit(limit)))
        return tuple(run_id for run_id in run_ids if self._purge(run_id, condition))

    def _purge(self, run_id: str, condition: ColumnElement[bool]) -> bool:
        """Purge one run; False if it no longer meets the condition, because it was just restored or published."""
        hidden = update(RunRow).where(RunRow.id == run_id, condition).values(deleted_at=database_now())
        with self._sessions.begin() as session:
            if session.execute(hidden.returning(RunRow.id)).one_or_none() is None:
                return False
            delete_calls(session.connection(), run_id)
            session.execute(delete(RunRow).where(RunRow.id == run_id))  # events, links and notes go with it
        log.info("run %s was deleted for good", run_id)
        return True

    def _is_restorable(self) -> ColumnElement[bool]:
        """Return the condition that a run can be restored; one deleted with its batch is restored only with it."""
        with_its_batch = select(BatchRow.id).where(BatchRow.id == RunRow.batch, BatchRow.deleted_at.is_not(None))
        return and_(RunRow.deleted_at > database_now(-self._undo_seconds), ~with_its_batch.exists())
