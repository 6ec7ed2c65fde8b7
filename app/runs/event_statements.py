"""The statements that the event log asks at every event, built once and over tables instead of classes.

Building a statement with SQLAlchemy takes longer than SQLite takes to carry it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from sqlalchemy import bindparam, insert, select, update

from app.runs.clock import database_now
from app.runs.tables import RUNNING, EventRow, RunRow

_runs, _events = RunRow.__table__.c, EventRow.__table__.c
COUNT_UP = (
    update(RunRow.__table__)
    .where(_runs.id == bindparam("run"), _runs.state == RUNNING, _runs.epoch == bindparam("held"))
    .values(last_seq=_runs.last_seq + 1)
    .returning(_runs.last_seq, database_now().label("now"), _runs.wish)
)
INSERT = insert(EventRow.__table__)
READ = (
    select(_events.seq, _events.at, _events.version, _events.body, _runs.created_at)
    .join_from(EventRow.__table__, RunRow.__table__, _runs.id == _events.run_id)
    .where(_events.run_id == bindparam("run"), _events.seq > bindparam("after"))
    .order_by(_events.seq)
)
WISH = select(_runs.wish).where(_runs.id == bindparam("run"))
STANDS = select(_runs.id, _runs.last_seq, _runs.state).where(_runs.id.in_(bindparam("runs", expanding=True)))
STANDS_ALONE = select(_runs.id, _runs.last_seq, _runs.state).where(_runs.id == bindparam("run"))
"""STANDS of one run, as nearly everybody asks: a list of runs is written into its statement at each execution."""


class Look(NamedTuple):
    """The runs in which something happened, whether one of them has ended, and whether any of all goes on."""

    news: tuple[str, ...]
    ended: bool
    running: bool

    @classmethod
    def at(cls, rows: Sequence[Any], after: Mapping[str, int]) -> Self:
        """What STANDS or STANDS_ALONE says to who has read up to these numbers."""
        news = [row for row in rows if row.last_seq > after[row.id]]
        running = any(row.state == RUNNING for row in rows)
        return cls(tuple(row.id for row in news), any(row.state != RUNNING for row in news), running)

    @property
    def nothing_more(self) -> bool:
        """Whether nothing is to come."""
        return not self.news and not self.running
