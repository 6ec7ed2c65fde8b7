"""Batches: many claims, kept as rows, of which a few at a time are runs (batch_feeder.py), and how far they are.

What their owner does with one is in batch_steering.py and batch_deletion.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, insert, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from app.domain.events import RunStarted
from app.domain.model import Claim, Label, RunOptions
from app.runs.db import database_now
from app.runs.event_store import encode_options
from app.runs.idempotency import id_for_form, is_invalid_id, new_id
from app.runs.tables import RUNNING, BatchClaimRow, BatchRow, EventRow, RunRow

BAD_INPUT, WAITING, GONE = "bad input", "waiting", "deleted"
"""How a claim stands whose line was none, that has no run yet, or whose run was deleted; else it is its run's state."""

FAILED = ("failed", "interrupted")
"""The states of a run that has ended without a verdict."""

AT_A_TIME = 500
"""Claims read at once where all are wanted."""


class BatchState(StrEnum):
    """What a batch does. A cancelled one stays cancelled; a done one goes on when something is retried."""

    GOING = "going"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A claim as a file has it, or the text of a line that is none, with the reason in `problem`."""

    claim: Claim
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as a list says it."""

    id: str
    owner: str
    title: str
    state: BatchState
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BatchClaim:
    """A claim of a batch and how far it is; `problem` is why there is no verdict, in one sentence, or ""."""

    number: int
    claim: Claim
    state: str
    run_id: str | None = None
    label: Label | None = None
    confidence: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How many claims of a batch stand how: by label, or by BatchClaim's state where there is none."""

    counts: dict[str, int]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """Those for which nothing more is done unless somebody asks for it."""
        return self.total - self.counts.get(WAITING, 0) - self.counts.get(RUNNING, 0)

    @property
    def with_verdict(self) -> int:
        """Those that have a verdict."""
        return sum(self.counts.get(label, 0) for label in Label)

    @property
    def failed(self) -> int:
        """Those that can be tried again."""
        return sum(self.counts.get(state, 0) for state in FAILED)


class Batches:
    """The batches of one database. Those that were deleted are not there."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def create(self, lines: Sequence[BatchLine], options: RunOptions, owner: str, title: str, form: str = "") -> str:
        """Store a new batch, which is going at once, and return its id: 128 random bits, safe in a URL.

        `form` is the random name of the form that was sent, if any: sent again as it was, it leads to the same batch.
        """
        begins = [RunStarted(line.claim, options) for line in lines]
        batch_id = id_for_form(owner, form, begins) if form else new_id()
        batch = {"id": batch_id, "owner": owner, "title": title, "state": BatchState.GOING.value}
        rows = [
            {
                "batch_id": batch_id,
                "number": number,
                "claim": line.claim.text,
                "speaker": line.claim.speaker,
                "date": line.claim.date,
                "problem": line.problem or None,
            }
            for number, line in enumerate(lines, 1)
        ]
        try:
            with self._sessions.begin() as session:
                made = {**batch, "options": encode_options(options), "created_at": database_now()}
                session.execute(insert(BatchRow).values(**made))
                session.execute(insert(BatchClaimRow), rows)
        except IntegrityError:  # the same form came before, or its batch was deleted
            return batch_id if self.get(batch_id) else self.create(lines, options, owner, title)
        return batch_id

    def get(self, batch_id: str) -> Batch | None:
        """The batch, or None where there is none."""
        if is_invalid_id(batch_id):
            return None
        with self._sessions() as session:
            row = session.scalar(select(BatchRow).where(BatchRow.id == batch_id, BatchRow.deleted_at.is_(None)))
            return told(row) if row else None

    def of_owner(self, owner: str, limit: int = 50) -> tuple[Batch, ...]:
        """The owner's batches, the newest first."""
        chosen = select(BatchRow).where(BatchRow.owner == owner, BatchRow.deleted_at.is_(None))
        newest_first = chosen.order_by(BatchRow.created_at.desc(), BatchRow.id)
        with self._sessions() as session:
            return tuple(map(told, session.scalars(newest_first.limit(limit))))

    def progress(self, batch_id: str) -> Progress:
        """How far the batch is."""
        stands = func.coalesce(case((_state() == "verdict", RunRow.label)), _state()).label("stands")
        counted = select(stands, func.count()).select_from(BatchClaimRow).outerjoin(RunRow, _its_run())
        with self._sessions() as session:
            found = session.execute(counted.where(BatchClaimRow.batch_id == batch_id).group_by(stands))
            return Progress(dict(found.all()))

    def claims(self, batch_id: str, after: int = 0, limit: int = 100) -> tuple[BatchClaim, ...]:
        """The claims numbered above `after`, in order, at most so many."""
        last_event = and_(EventRow.run_id == RunRow.id, EventRow.seq == RunRow.last_seq, RunRow.state != RUNNING)
        chosen = (
            select(BatchClaimRow, _state().label("state"), RunRow.label, EventRow.body)
            .outerjoin(RunRow, _its_run())
            .outerjoin(EventRow, last_event)
            .where(BatchClaimRow.batch_id == batch_id, BatchClaimRow.number > after)
            .order_by(BatchClaimRow.number)
        )
        with self._sessions() as session:
            return tuple(_claim(*row) for row in session.execute(chosen.limit(limit)))

    def all_claims(self, batch_id: str) -> Iterator[BatchClaim]:
        """Every claim, in order; some hundreds are read at a time, and no session is held in between."""
        after = 0
        while some := self.claims(batch_id, after, AT_A_TIME):
            yield from some
            after = some[-1].number


def _its_run() -> ColumnElement[bool]:
    return RunRow.id == BatchClaimRow.run_id


def _state() -> ColumnElement[str]:
    return case(
        (BatchClaimRow.problem.is_not(None), BAD_INPUT),
        (BatchClaimRow.run_id.is_(None), WAITING),
        (or_(RunRow.id.is_(None), RunRow.deleted_at.is_not(None)), GONE),
        else_=RunRow.state,
    )


def told(row: BatchRow) -> Batch:
    """What a row says."""
    return Batch(row.id, row.owner, row.title, BatchState(row.state), row.created_at)


def _claim(row: BatchClaimRow, state: str, label: str | None, last: dict[str, Any] | None) -> BatchClaim:
    claim = Claim(row.claim, row.speaker, row.date)
    if state in (BAD_INPUT, WAITING, GONE):
        return BatchClaim(row.number, claim, state, problem=row.problem or "")
    last = last or {}
    confidence = last.get("verdict", {}).get("confidence")
    return BatchClaim(
        row.number, claim, state, row.run_id, Label(label) if label else None, confidence, last.get("message", "")
    )
