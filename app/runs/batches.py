"""Batches: many claims, kept as rows, of which a few at a time are runs (batch_feeder.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from app.reasoning.events import RunStarted
from app.reasoning.types import Claim, Label, RunOptions
from app.runs.clock import database_now
from app.runs.codec import encode_options
from app.runs.once import id_of_form, is_no_id, new_id
from app.runs.tables import RUNNING, BatchClaimRow, BatchRow, EventRow, RunRow, is_there

CANCELLED_WITH_ITS_BATCH = "Its batch was cancelled."

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
    """The batches of one database. `stop` ends an unfinished run, given its id and why."""

    def __init__(self, sessions: sessionmaker[Session], stop: Callable[[str, str], bool]) -> None:
        self._sessions = sessions
        self._stop = stop

    def create(self, lines: Sequence[BatchLine], options: RunOptions, owner: str, title: str, form: str = "") -> str:
        """Store a new batch, which is going at once, and return its id: 128 random bits, safe in a URL.

        `form` is the random name of the form that was sent, if any: sent again as it was, it leads to the same batch.
        """
        begins = [RunStarted(line.claim, options) for line in lines]
        batch_id = id_of_form(owner, form, begins) if form else new_id()
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
        except IntegrityError:  # the same form came a moment ago
            if self.get(batch_id) is None:
                raise
        return batch_id

    def get(self, batch_id: str) -> Batch | None:
        """The batch, or None where there is none."""
        if is_no_id(batch_id):
            return None
        with self._sessions() as session:
            row = session.get(BatchRow, batch_id)
            return _batch(row) if row else None

    def of_owner(self, owner: str, limit: int = 50) -> tuple[Batch, ...]:
        """The owner's batches, the newest first."""
        chosen = select(BatchRow).where(BatchRow.owner == owner).order_by(BatchRow.created_at.desc(), BatchRow.id)
        with self._sessions() as session:
            return tuple(map(_batch, session.scalars(chosen.limit(limit))))

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

    def unfinished(self, batch_id: str) -> tuple[str, ...]:
        """The runs of the batch that have begun and not ended."""
        begun = select(RunRow.id).where(RunRow.batch == batch_id, RunRow.state == RUNNING)
        with self._sessions() as session:
            return tuple(session.scalars(begun))

    def pause(self, batch_id: str) -> bool:
        """Begin no more of its runs; those that have begun go on. False unless it was going."""
        return self._turn(batch_id, BatchState.PAUSED, BatchState.GOING)

    def resume(self, batch_id: str) -> bool:
        """Go on with a paused batch. False unless it was one."""
        return self._turn(batch_id, BatchState.GOING, BatchState.PAUSED)

    def cancel(self, batch_id: str) -> bool:
        """Begin no more of its runs, for good, and end those that go on. False for one that is over."""
        if not self._turn(batch_id, BatchState.CANCELLED, BatchState.GOING, BatchState.PAUSED):
            return False
        for run_id in self.unfinished(batch_id):
            self._stop(run_id, CANCELLED_WITH_ITS_BATCH)
        return True

    def retry(self, batch_id: str) -> int:
        """Give a new run to every claim whose run failed or was interrupted; returns how many. A paused batch stays so.

        0 for a cancelled one. The earlier runs stay where their links are.
        """
        again = select(RunRow.id).where(RunRow.batch == batch_id, RunRow.state.in_(FAILED), is_there())
        reset = update(BatchClaimRow).where(BatchClaimRow.batch_id == batch_id, BatchClaimRow.run_id.in_(again))
        with self._sessions.begin() as session:
            open_again = update(BatchRow).where(BatchRow.id == batch_id, BatchRow.state != BatchState.CANCELLED.value)
            woken = case((BatchRow.state == BatchState.PAUSED.value, BatchRow.state), else_=BatchState.GOING.value)
            if session.execute(open_again.values(state=woken).returning(BatchRow.id)).one_or_none() is None:
                return 0
            return len(session.execute(reset.values(run_id=None).returning(BatchClaimRow.number)).all())

    def forget(self, days: int) -> None:
        """Take away the batches that are older than that, are over, and of whose runs none is kept any more."""
        has_runs = select(RunRow.id).where(RunRow.batch == BatchRow.id).exists()
        over = BatchRow.state.in_((BatchState.DONE.value, BatchState.CANCELLED.value))
        with self._sessions.begin() as session:
            session.execute(delete(BatchRow).where(over, BatchRow.created_at < database_now(-days * 86_400), ~has_runs))

    def _turn(self, batch_id: str, state: BatchState, *where: BatchState) -> bool:
        """Change the batch's state from one of `where`; False where it is in none of them."""
        changed = update(BatchRow).where(BatchRow.id == batch_id, BatchRow.state.in_([each.value for each in where]))
        with self._sessions.begin() as session:
            done = session.execute(changed.values(state=state.value).returning(BatchRow.id))
            return done.one_or_none() is not None


def _its_run() -> ColumnElement[bool]:
    return RunRow.id == BatchClaimRow.run_id


def _state() -> ColumnElement[str]:
    return case(
        (BatchClaimRow.problem.is_not(None), BAD_INPUT),
        (BatchClaimRow.run_id.is_(None), WAITING),
        (or_(RunRow.id.is_(None), RunRow.deleted_at.is_not(None)), GONE),
        else_=RunRow.state,
    )


def _batch(row: BatchRow) -> Batch:
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
