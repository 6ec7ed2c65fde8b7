"""What the operator sees of the runs of all owners: how many there are of each kind, how many wait, the newest."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from app.runs.catalogue import RunSummary, Wanted, fitting, summary
from app.runs.leases import is_free
from app.runs.tables import RUNNING, RunRow, is_there


class Overview:
    """The runs of one database, without those that were deleted."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def counts(self) -> dict[tuple[str, str], int]:
        """How many runs there are by state and label; the label is "" where there is none."""
        counted = select(RunRow.state, RunRow.label, func.count()).where(is_there())
        with self._sessions() as session:
            found = session.execute(counted.group_by(RunRow.state, RunRow.label))
            return {(state, label or ""): number for state, label, number in found}

    def waiting(self) -> int:
        """How many runs wait for somebody to carry them out."""
        free = select(func.count()).select_from(RunRow).where(RunRow.state == RUNNING, is_free(), is_there())
        with self._sessions() as session:
            return session.scalar(free) or 0

    def newest(self, wanted: Wanted, limit: int = 20) -> tuple[RunSummary, ...]:
        """The newest runs, newest first."""
        chosen = select(RunRow).where(is_there(), *fitting(wanted)).order_by(RunRow.created_at.desc(), RunRow.id)
        with self._sessions() as session:
            return tuple(map(summary, session.scalars(chosen.limit(limit))))
