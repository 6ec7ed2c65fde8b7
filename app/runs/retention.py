"""How long runs are kept: those that ended long ago and are not published go for good, as deleted ones do."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session, sessionmaker

from app.runs.clock import database_now
from app.runs.deletion import AT_A_TIME, Deletion
from app.runs.tables import RUNNING, RunRow

DAY_SECONDS = 86_400.0


class Retention:
    """The runs of one database that are kept for `days`; 0 keeps them for ever."""

    def __init__(self, sessions: sessionmaker[Session], deletion: Deletion, days: int = 0) -> None:
        self._sessions = sessions
        self._deletion = deletion
        self._days = days

    def sweep(self) -> tuple[str, ...]:
        """Take some of those away that have been kept for long enough; returns their ids."""
        return self._deletion.take_away(_ended_before(self._days), AT_A_TIME) if self._days else ()

    def count(self, days: int) -> int:
        """How many `purge` would take away."""
        with self._sessions() as session:
            return session.scalar(select(func.count()).select_from(RunRow).where(_ended_before(days))) or 0

    def purge(self, days: int) -> int:
        """Take away every run that ended more than `days` ago and is not published; returns how many."""
        return len(self._deletion.take_away(_ended_before(days)))


def _ended_before(days: int) -> ColumnElement[bool]:
    long_ago = RunRow.ended_at < database_now(-days * DAY_SECONDS)
    return and_(RunRow.state != RUNNING, long_ago, RunRow.published_at.is_(None))
