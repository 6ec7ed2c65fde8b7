"""Deleting a batch: it and its runs are gone for everybody at once, for good after a while, as deletion.py has it.

Until then its owner may have it back with the runs that went with it. A run of it that was deleted before stays so.
What branched off one of them stays.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import ColumnElement, case, delete, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.runs.batches import Batch, BatchState, told
from app.runs.db import database_now
from app.runs.deletion import UNDO_SECONDS
from app.runs.idempotency import is_invalid_id
from app.runs.tables import BatchRow, RunRow, is_there

DELETED_WITH_ITS_BATCH = "Its batch was deleted."

OVER = (BatchState.DONE.value, BatchState.CANCELLED.value)


class BatchDeletion:
    """Deletes the batches of one database. `stop_all` ends the unfinished runs of one, given its id and why."""

    def __init__(
        self, sessions: sessionmaker[Session], stop_all: Callable[[str, str], None], undo_seconds: float = UNDO_SECONDS
    ) -> None:
        self._sessions = sessions
        self._stop_all = stop_all
        self._undo_seconds = undo_seconds

    def delete(self, batch_id: str) -> bool:
        """Hide the batch and all its runs; one that is not over is cancelled by that. False where there is none.

        The batch's row is written first, which holds off whoever begins another of its runs.
        """
        ended = case((BatchRow.state.in_(OVER), BatchRow.state), else_=BatchState.CANCELLED.value)
        hidden = update(BatchRow).where(BatchRow.id == batch_id, BatchRow.deleted_at.is_(None))
        with self._sessions.begin() as session:
            hiding = hidden.values(state=ended, deleted_at=database_now()).returning(BatchRow.id)
            if session.execute(hiding).one_or_none() is None:
                return False
            went = select(BatchRow.deleted_at).where(BatchRow.id == batch_id).scalar_subquery()
            session.execute(update(RunRow).where(RunRow.batch == batch_id, is_there()).values(deleted_at=went))
        self._stop_all(batch_id, DELETED_WITH_ITS_BATCH)
        return True

    def restore(self, batch_id: str, owner: str) -> bool:
        """Give a batch back; one that was cancelled stays so. False when it is too late, or there is none."""
        if is_invalid_id(batch_id):
            return False
        its = (BatchRow.id == batch_id, BatchRow.owner == owner, self._is_undoable())
        went = select(BatchRow.deleted_at).where(*its).scalar_subquery()
        with self._sessions.begin() as session:
            back = update(RunRow).where(RunRow.batch == batch_id, RunRow.deleted_at == went)
            session.execute(back.values(deleted_at=None))
            shown = update(BatchRow).where(*its).values(deleted_at=None).returning(BatchRow.id)
            if session.execute(shown).one_or_none() is None:
                session.rollback()
                return False
        return True

    def undoable(self, owner: str) -> tuple[Batch, ...]:
        """The owner's batches that were deleted and can still be had back, the last one first."""
        chosen = select(BatchRow).where(BatchRow.owner == owner, self._is_undoable())
        with self._sessions() as session:
            return tuple(map(told, session.scalars(chosen.order_by(BatchRow.deleted_at.desc(), BatchRow.id))))

    def purge(self) -> None:
        """Take away for good, with their claims, what can no longer be had back. Their runs are deletion.py's.

        Looked for first, for a sweep that finds nothing must not make writers wait.
        """
        too_late = BatchRow.deleted_at <= database_now(-self._undo_seconds)
        with self._sessions() as session:
            found = session.scalar(select(BatchRow.id).where(too_late).limit(1))
        if found is not None:
            with self._sessions.begin() as session:
                session.execute(delete(BatchRow).where(too_late))

    def forget(self, days: int) -> None:
        """Take away the batches that are older than that, are over, and of whose runs none is kept any more."""
        has_runs = select(RunRow.id).where(RunRow.batch == BatchRow.id).exists()
        old = BatchRow.created_at < database_now(-days * 86_400)
        with self._sessions.begin() as session:
            session.execute(delete(BatchRow).where(BatchRow.state.in_(OVER), old, ~has_runs))

    def _is_undoable(self) -> ColumnElement[bool]:
        return BatchRow.deleted_at > database_now(-self._undo_seconds)
