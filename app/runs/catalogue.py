"""What is stored of runs, for whoever reads them: one run whole, or some in a list.

A run that was deleted is not in it, for anybody: pages, streams, the API and the exports all read runs here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.orm import Session, sessionmaker

from app.language.search_words import search_words
from app.reasoning.report import Report
from app.reasoning.roles import Wish
from app.reasoning.types import Label
from app.runs.event_store import EventStore
from app.runs.folds import Folds
from app.runs.jobs import BATCHES, PEOPLE
from app.runs.once import is_no_id
from app.runs.tables import RunRow, is_there

Position = tuple[datetime, str]
"""A place in a list of runs: the time and the id of the run behind which to go on."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it stands: its report folds the events up to number `last_seq`; `wish` is what its owner wants of it.

    Its owner published it at `published_at`; the operator took it down at `taken_down_at`.
    """

    id: str
    owner: str
    created_at: datetime
    last_seq: int
    report: Report
    wish: Wish = Wish.GO_ON
    published_at: datetime | None = None
    taken_down_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in a list. `state` is "running", "verdict", "failed" or "interrupted"; `imported` ones come from a file."""

    id: str
    claim: str
    label: Label | None
    state: str
    created_at: datetime
    imported: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs to list; what is "" is not asked for.

    Every word of `words` stands in the claim, whatever its case and accents, alone or within another word. `outcome`
    is a label, or the state of a run that has none.
    """

    words: str = ""
    outcome: str = ""
    answerer: str = ""


class Catalogue:
    """The runs of one database, without those that were deleted."""

    def __init__(self, sessions: sessionmaker[Session], events: EventStore) -> None:
        self._sessions = sessions
        self._folds = Folds(events)

    def report(self, run_id: str) -> StoredRun | None:
        """The run as it stands now, or None where there is none. Raises Unreadable for one of another version."""
        if is_no_id(run_id):
            return None
        with self._sessions() as session:
            row = session.get(RunRow, run_id)
        if row is None or row.deleted_at is not None:
            return None
        folded = self._folds.of(run_id, row.created_at, row.last_seq)
        if folded is None:
            return None
        stands = (row.created_at, *folded, Wish(row.wish or Wish.GO_ON))
        return StoredRun(run_id, row.owner, *stands, row.published_at, row.taken_down_at)

    def queue_of(self, run_id: str) -> str:
        """Where the run waits for its turn."""
        with self._sessions() as session:
            batch = session.scalar(select(RunRow.batch).where(RunRow.id == run_id))
        return PEOPLE if batch is None else BATCHES

    def has(self, run_id: str) -> bool:
        """Whether the run is there."""
        with self._sessions() as session:
            return session.scalar(select(RunRow.id).where(RunRow.id == run_id, is_there())) is not None

    def of_owner(
        self, owner: str, wanted: Wanted = Wanted(), limit: int = 20, after: Position | None = None
    ) -> tuple[RunSummary, ...]:
        """The owner's newest runs, newest first; with `after`, those that follow that one.

        Those of batches are left out: their batch lists them.
        """
        chosen = select(RunRow).where(RunRow.owner == owner, is_there(), RunRow.batch.is_(None), *fitting(wanted))
        if after:
            at, run_id = after
            later_in_list = and_(RunRow.created_at == at, RunRow.id > run_id)
            chosen = chosen.where(or_(RunRow.created_at < at, later_in_list))
        return self._summaries(chosen.order_by(RunRow.created_at.desc(), RunRow.id).limit(limit))

    def branches(self, run_id: str) -> tuple[RunSummary, ...]:
        """The runs that branch off this one, oldest first."""
        children = select(RunRow).where(RunRow.parent == run_id, is_there())
        return self._summaries(children.order_by(RunRow.created_at, RunRow.id))

    def _summaries(self, chosen: Select[Any]) -> tuple[RunSummary, ...]:
        with self._sessions() as session:
            return tuple(map(summary, session.scalars(chosen)))


def summary(row: RunRow) -> RunSummary:
    """What a list says of a run."""
    label = Label(row.label) if row.label else None
    return RunSummary(row.id, row.claim, label, row.state, row.created_at, row.imported)


def fitting(wanted: Wanted) -> list[ColumnElement[bool]]:
    """The conditions that a run fits."""
    conditions = [RunRow.searched.contains(word, autoescape=True) for word in search_words(wanted.words)]
    if wanted.outcome:
        conditions.append(or_(RunRow.label == wanted.outcome, RunRow.state == wanted.outcome))
    if wanted.answerer:
        conditions.append(RunRow.options["answerer"].as_string() == wanted.answerer)
    return conditions
