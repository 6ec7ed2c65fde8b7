"""Read stored runs: the report of one run, computed from its events, and lists and counts of runs.

Deleted runs are left out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from pydantic import Field
from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session, sessionmaker

from app.domain.model import Label, RunOptions
from app.domain.ports import RunCommand
from app.domain.report import Report, reduce_events
from app.runs.admission import is_invalid_id
from app.runs.event_store import EventStore, command_from_column, decode_options
from app.runs.json_schema import Moment
from app.runs.leases import is_free
from app.runs.models import BATCHES, PEOPLE, RUNNING, Cursor, NoteRow, RunRow, comes_after, is_visible
from app.runs.report_schema import STATES
from app.text.wording import search_words

MAX_REPORTS = 64
"""Maximum number of cached reports; that of a long run takes some hundred kilobytes."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run with its report of the events up to number `last_seq`."""

    id: str
    owner: str
    created_at: datetime
    last_seq: int
    report: Report
    command: RunCommand = RunCommand.CONTINUE
    """FINISH_NOW once the owner has requested a verdict, else CONTINUE."""
    published_at: datetime | None = None
    taken_down_at: datetime | None = None
    """The time at which the operator withdrew it from publication."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in a list."""

    id: str
    claim: str
    label: Label | None
    state: Annotated[str, Field(json_schema_extra={"enum": list(STATES)})]
    created_at: Moment
    imported: bool = False
    """True if it was read from a file."""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """The filters of a list of runs; an empty field does not restrict it."""

    words: str = ""
    """Words that the claim must contain, ignoring case and accents, alone or within other words."""
    outcome: str = ""
    """A label, or the state of a run without one."""
    answerer: str = ""
    disagreed: bool = False
    """Whether the owner's own verdict must differ from that of the run."""


class Projection(NamedTuple):
    """A report, and the number of the last event in it."""

    last_seq: int
    report: Report


class ReportCache:
    """Compute the reports of runs from their events, and cache those of unfinished runs. Thread-safe.

    All followers of a run share a cached report. Stored events never change, so only new events are read to update it.
    """

    def __init__(self, events: EventStore, max_reports: int = MAX_REPORTS) -> None:
        self._events = events
        self._max_reports = max_reports
        self._lock = threading.Lock()
        self._cached: OrderedDict[tuple[str, datetime], Projection] = OrderedDict()

    def get(self, run_id: str, created_at: datetime, last_seq: int) -> Projection | None:
        """Return the run's report, which includes event `last_seq` and maybe later ones; None for a run without events.

        `created_at` distinguishes the run from a deleted one with the same id. Raises Unreadable.
        """
        key = (run_id, created_at)
        with self._lock:
            cached = self._cached.get(key)
        if cached is None or cached.last_seq < last_seq:
            events = self._events.read(run_id, cached.last_seq if cached else 0)
            if events:
                timed = ((each.event, each.seconds) for each in events)
                cached = Projection(events[-1].seq, reduce_events(timed, cached.report if cached else None))
        if cached:
            self._put(key, cached)
        return cached

    def _put(self, key: tuple[str, datetime], projection: Projection) -> None:
        with self._lock:
            self._cached.pop(key, None)
            if projection.report.ended:
                return
            self._cached[key] = projection
            if len(self._cached) > self._max_reports:
                self._cached.popitem(last=False)


class RunQueries:
    """Reads runs by id, by owner, or by the run that they branch off; counts and lists those of all owners."""

    def __init__(self, sessions: sessionmaker[Session], events: EventStore) -> None:
        self._sessions = sessions
        self._reports = ReportCache(events)

    def get(self, run_id: str) -> StoredRun | None:
        """Return the run as it is now, None for an unknown one. Raises Unreadable for events of another version."""
        if is_invalid_id(run_id):
            return None
        with self._sessions() as session:
            row = session.get(RunRow, run_id)
        if row is None or row.deleted_at is not None:
            return None
        projection = self._reports.get(run_id, row.created_at, row.last_seq)
        if projection is None:
            return None
        return StoredRun(
            run_id,
            row.owner,
            row.created_at,
            projection.last_seq,
            projection.report,
            command=command_from_column(row.command),
            published_at=row.published_at,
            taken_down_at=row.taken_down_at,
        )

    def queue_of(self, run_id: str) -> str:
        with self._sessions() as session:
            batch = session.scalar(select(RunRow.batch).where(RunRow.id == run_id))
        return PEOPLE if batch is None else BATCHES

    def exists(self, run_id: str) -> bool:
        """Return whether the run exists and was not deleted."""
        with self._sessions() as session:
            return session.scalar(select(RunRow.id).where(RunRow.id == run_id, is_visible())) is not None

    def of_owner(
        self,
        owner: str,
        limit: int = 20,
        after: Cursor | None = None,
        wanted: RunFilter = RunFilter(),
    ) -> tuple[RunSummary, ...]:
        """Return the owner's runs, newest first, except those of batches; with `after`, only those after it."""
        query = select(RunRow).where(RunRow.owner == owner, is_visible(), RunRow.batch.is_(None), *_conditions(wanted))
        if after:
            query = query.where(comes_after(RunRow.created_at, after))
        return self._summaries(query.order_by(RunRow.created_at.desc(), RunRow.id).limit(limit))

    def branches(self, run_id: str) -> tuple[RunSummary, ...]:
        """Return the runs that branch off this one, oldest first."""
        children = select(RunRow).where(RunRow.parent == run_id, is_visible())
        return self._summaries(children.order_by(RunRow.created_at, RunRow.id))

    def options_of(self, ids: Sequence[str]) -> dict[str, RunOptions]:
        """Return the options of each of these runs by its id.

        Runs that do not exist or whose options this version cannot read are left out.
        """
        query = select(RunRow.id, RunRow.options).where(RunRow.id.in_(ids), is_visible())
        found: dict[str, RunOptions] = {}
        with self._sessions() as session:
            for run_id, stored in session.execute(query):
                with suppress(ValueError):
                    found[run_id] = decode_options(stored)
        return found

    def counts(self) -> dict[tuple[str, str], int]:
        """Count the runs of all owners by state and label; the label is "" where there is none."""
        counted = select(RunRow.state, RunRow.label, func.count()).where(is_visible())
        with self._sessions() as session:
            found = session.execute(counted.group_by(RunRow.state, RunRow.label))
            return {(state, label or ""): number for state, label, number in found}

    def waiting(self) -> int:
        """Count the runs of all owners that wait for a worker."""
        free = select(func.count()).select_from(RunRow).where(RunRow.state == RUNNING, is_free(), is_visible())
        with self._sessions() as session:
            return session.scalar(free) or 0

    def newest(self, wanted: RunFilter, limit: int = 20) -> tuple[RunSummary, ...]:
        """Return at most `limit` runs of all owners, newest first."""
        query = select(RunRow).where(is_visible(), *_conditions(wanted)).order_by(RunRow.created_at.desc(), RunRow.id)
        return self._summaries(query.limit(limit))

    def _summaries(self, query: Select[Any]) -> tuple[RunSummary, ...]:
        with self._sessions() as session:
            return tuple(map(summary, session.scalars(query)))


def summary(row: RunRow) -> RunSummary:
    label = Label(row.label) if row.label else None
    return RunSummary(row.id, row.claim, label, row.state, row.created_at, row.imported)


def _conditions(wanted: RunFilter) -> list[ColumnElement[bool]]:
    conditions = [RunRow.searched.contains(word, autoescape=True) for word in search_words(wanted.words)]
    if wanted.outcome:
        conditions.append(or_(RunRow.label == wanted.outcome, RunRow.state == wanted.outcome))
    if wanted.answerer:
        conditions.append(RunRow.options["answerer"].as_string() == wanted.answerer)
    if wanted.disagreed:
        differs = (NoteRow.run_id == RunRow.id, NoteRow.hop == 0, NoteRow.agrees.is_(False))
        conditions.append(select(NoteRow.hop).where(*differs).exists())
    return conditions
