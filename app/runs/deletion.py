"""Deleting a run: gone for everybody at once, for good after a while, until when its owner may have it back.

What goes for good is the run's row with its events and notes, and the stored replies that it made or used, unless
another run has used them too. A run that branched off a deleted one stays.
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
"""How long a deleted run can be had back."""

DELETED = "Its owner deleted this check."

PURGE_LIMIT = 100
"""Runs that a sweep takes away at most, for it has other things to do, and writers wait meanwhile."""


class Deletion:
    """Deletes the runs of one database. `stop` ends an unfinished run, given its id and why."""

    def __init__(
        self, sessions: sessionmaker[Session], stop: Callable[[str, str], bool], undo_seconds: float = UNDO_SECONDS
    ) -> None:
        self._sessions = sessions
        self._stop = stop
        self._undo_seconds = undo_seconds

    def of_owner(self, run_id: str, owner: str) -> RunSummary | None:
        """The run, if it is there and the owner's. It need not be readable: what another version stored may go too."""
        if is_invalid_id(run_id):
            return None
        chosen = select(RunRow).where(RunRow.id == run_id, RunRow.owner == owner, is_visible())
        with self._sessions() as session:
            row = session.scalar(chosen)
            return summary(row) if row else None

    def delete(self, run_id: str) -> bool:
        """Hide the run from everybody, its owner too; one that goes on is stopped first. False where there is none."""
        self._stop(run_id, DELETED)
        hidden = (
            update(RunRow)
            .where(RunRow.id == run_id, RunRow.state != RUNNING, is_visible())
            .values(deleted_at=database_now())
        )
        with self._sessions.begin() as session:
            return session.execute(hidden.returning(RunRow.id)).one_or_none() is not None

    def restore(self, run_id: str, owner: str) -> bool:
        """Give a run back as it was. False when it is too late, or there is no such deleted run of the owner's."""
        if is_invalid_id(run_id):
            return False
        shown = update(RunRow).where(RunRow.id == run_id, RunRow.owner == owner, self._is_undoable())
        with self._sessions.begin() as session:
            return session.execute(shown.values(deleted_at=None).returning(RunRow.id)).one_or_none() is not None

    def undoable(self, owner: str) -> tuple[RunSummary, ...]:
        """The owner's runs that were deleted and can still be had back, the last one first."""
        chosen = select(RunRow).where(RunRow.owner == owner, self._is_undoable())
        with self._sessions() as session:
            return tuple(map(summary, session.scalars(chosen.order_by(RunRow.deleted_at.desc(), RunRow.id))))

    def purge(self) -> tuple[str, ...]:
        """Take away for good some of what can no longer be had back; returns the ids."""
        return self.take_away(RunRow.deleted_at <= database_now(-self._undo_seconds), PURGE_LIMIT)

    def take_away(self, condition: ColumnElement[bool], most: int | None = None) -> tuple[str, ...]:
        """Take the runs that fulfil the condition away for good, at most so many; returns the ids."""
        with self._sessions() as session:
            run_ids = tuple(session.scalars(select(RunRow.id).where(condition).limit(most)))
        return tuple(run_id for run_id in run_ids if self._take_away(run_id, condition))

    def _take_away(self, run_id: str, condition: ColumnElement[bool]) -> bool:
        """False where the run fulfils the condition no more, as one that was had back or published a moment ago."""
        hidden = update(RunRow).where(RunRow.id == run_id, condition).values(deleted_at=database_now())
        with self._sessions.begin() as session:
            if session.execute(hidden.returning(RunRow.id)).one_or_none() is None:
                return False
            delete_calls(session.connection(), run_id)
            session.execute(delete(RunRow).where(RunRow.id == run_id))  # events, links and notes go with it
        log.info("run %s is gone for good", run_id)
        return True

    def _is_undoable(self) -> ColumnElement[bool]:
        """A run that was deleted with its whole batch comes back with that alone (batch_deletion.py)."""
        with_its_batch = select(BatchRow.id).where(BatchRow.id == RunRow.batch, BatchRow.deleted_at.is_not(None))
        return and_(RunRow.deleted_at > database_now(-self._undo_seconds), ~with_its_batch.exists())
