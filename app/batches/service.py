"""Store, read, control and delete batches, and start their runs a few at a time, so that the queue is not filled."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain, islice, zip_longest
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import HopcheckError
from app.domain.events import RunFailed, RunInterrupted, RunStarted, VerdictReached
from app.domain.messages import Code, Text, Words
from app.domain.model import BatchLine, Claim, Label, Note, RunOptions, SourceText
from app.runs.admission import DailyLimitReached, id_for_form, is_invalid_id, new_id
from app.runs.db import changes_row, database_now
from app.runs.event_store import decode, decode_options, encode_options
from app.runs.leases import in_queue, is_free
from app.runs.lifecycle import UNDO_SECONDS
from app.runs.models import BATCHES, RUNNING, BatchClaimRow, BatchRow, EventRow, NoteRow, RunRow, is_visible
from app.runs.notes import is_own_verdict, note_from_row
from app.runs.service import Runs

log = logging.getLogger(__name__)

BAD_INPUT, WAITING, DELETED = "bad input", "waiting", "deleted"
"""States of a claim without a run: not valid, not started yet, run deleted. Others have the state of their run."""

FAILED_STATES = ("failed", "interrupted")
"""States of a run that ended without a verdict; its claim can be retried."""

CLAIMS_PER_READ = 500

MIN_QUEUED = 8
"""Runs of batches kept in the queue (more with more than four workers), so that no worker idles between two feeds."""

IS_TO_START = (BatchClaimRow.run_id.is_(None), BatchClaimRow.problem.is_(None))
"""Conditions for a valid claim whose run has not been started."""

ENDED_STATES = ("done", "cancelled")

UNREADABLE = Words("It was stored by another version of Hopcheck, and this one cannot continue it.")


class ClaimTaken(HopcheckError):
    """The claim has a run already, or its batch was paused or has ended."""


class BatchState(StrEnum):
    """The state of a batch. CANCELLED is final; a retry sets DONE back to GOING."""

    GOING = "going"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch in a list."""

    id: str
    owner: str
    title: str
    state: BatchState
    created_at: datetime
    source: SourceText | None = None


@dataclass(frozen=True, slots=True)
class BatchClaim:
    """A claim of a batch and its state."""

    number: int
    claim: Claim
    state: str
    run_id: str | None = None
    label: Label | None = None
    confidence: float | None = None
    problem: str = ""
    """The reason why there is no verdict, in one sentence."""
    reason: str = ""
    """What was missing for a verdict, else the first sentence of the rationale."""
    own_verdict: Note | None = None
    """The owner's own verdict."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The number of claims of a batch in each state."""

    counts: dict[str, int]
    """By label, or by the claim's state where it has none."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """Return the number of claims that need no more work."""
        return self.total - self.counts.get(WAITING, 0) - self.counts.get(RUNNING, 0)

    @property
    def bad(self) -> int:
        """Return the number of claims that cannot be checked."""
        return self.counts.get(BAD_INPUT, 0)

    @property
    def with_verdict(self) -> int:
        return sum(self.counts.get(label, 0) for label in Label)

    @property
    def failed(self) -> int:
        """Return the number of claims that can be retried."""
        return sum(self.counts.get(state, 0) for state in FAILED_STATES)


class Batches:
    """Store, read, control, delete and feed the batches of one database. `get` and `of_owner` leave out deleted ones.

    Several processes may feed the same batches: a claim is linked to its run in the transaction that creates the run,
    which is rolled back if the claim has a run already. Runs that were deleted before their batch are not restored with
    it, and branches of deleted runs stay; `Deletion` purges the runs (runs/lifecycle.py).
    """

    def __init__(
        self,
        sessions: sessionmaker[Session],
        runs: Runs,
        workers: int = 2,
        retention_days: int = 0,
    ) -> None:
        """Keep more than MIN_QUEUED runs in the queue for more than four `workers`."""
        self._sessions = sessions
        self.runs = runs
        self._max_queued = max(MIN_QUEUED, 2 * workers)
        self._retention_days = retention_days
        self._unreadable: set[str] = set()
        """The ids of batches whose options were stored by another version."""
        runs.do_periodically(self.feed, self.purge)

    def start(
        self,
        lines: Sequence[BatchLine],
        options: RunOptions,
        owner: str,
        title: str,
        form: str = "",
        source: SourceText | None = None,
    ) -> str:
        """Store a new batch in state GOING, start its first runs, and return its id, which is hard to guess.

        `form` is the random name of the form, if any. The same form sent again creates no batch while the first exists.
        """
        first_events = [RunStarted(line.claim, options) for line in lines]
        batch_id = id_for_form(owner, form, first_events) if form else new_id()
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
                text = asdict(source) if source else None
                columns = {**batch, "options": encode_options(options), "created_at": database_now(), "source": text}
                session.execute(insert(BatchRow).values(**columns))
                session.execute(insert(BatchClaimRow), rows)
        except IntegrityError:  # the form was sent before; if its batch was deleted, another gets a new id
            return batch_id if self.get(batch_id) else self.start(lines, options, owner, title, source=source)
        self.feed()
        return batch_id

    def get(self, batch_id: str) -> Batch | None:
        if is_invalid_id(batch_id):
            return None
        with self._sessions() as session:
            row = session.scalar(select(BatchRow).where(BatchRow.id == batch_id, BatchRow.deleted_at.is_(None)))
            return batch_from_row(row) if row else None

    def options_of(self, batch_id: str) -> RunOptions | None:
        """Return the options of the batch's runs; None for those of another version."""
        with self._sessions() as session:
            stored = session.scalar(select(BatchRow.options).where(BatchRow.id == batch_id))
        with suppress(ValueError):
            return decode_options(stored) if stored else None
        return None

    def of_owner(self, owner: str, limit: int = 50) -> tuple[Batch, ...]:
        """Return the owner's batches, newest first."""
        chosen = select(BatchRow).where(BatchRow.owner == owner, BatchRow.deleted_at.is_(None))
        newest_first = chosen.order_by(BatchRow.created_at.desc(), BatchRow.id)
        with self._sessions() as session:
            return tuple(map(batch_from_row, session.scalars(newest_first.limit(limit))))

    def progress(self, batch_id: str) -> Progress:
        status = _status().label("status")
        counted = select(status, func.count()).select_from(BatchClaimRow).outerjoin(RunRow, _is_own_run())
        with self._sessions() as session:
            found = session.execute(counted.where(BatchClaimRow.batch_id == batch_id).group_by(status))
            return Progress(dict(found.all()))

    def claims(self, batch_id: str, after: int = 0, limit: int = 100, status: str = "") -> tuple[BatchClaim, ...]:
        """Return up to `limit` claims numbered above `after`, in order; only those of this label or state, if given."""
        last_event = and_(EventRow.run_id == RunRow.id, EventRow.seq == RunRow.last_seq, RunRow.state != RUNNING)
        chosen = (
            select(BatchClaimRow, _state().label("state"), RunRow.label, EventRow.body, EventRow.version, NoteRow)
            .outerjoin(RunRow, _is_own_run())
            .outerjoin(EventRow, last_event)
            .outerjoin(NoteRow, and_(NoteRow.run_id == RunRow.id, is_own_verdict()))
            .where(BatchClaimRow.batch_id == batch_id, BatchClaimRow.number > after)
            .order_by(BatchClaimRow.number)
        )
        if status:
            chosen = chosen.where(_status() == status)
        with self._sessions() as session:
            return tuple(_claim(*row) for row in session.execute(chosen.limit(limit)))

    def all_claims(self, batch_id: str) -> Iterator[BatchClaim]:
        """Yield every claim, in order. No session is held between the reads."""
        after = 0
        while claims := self.claims(batch_id, after, CLAIMS_PER_READ):
            yield from claims
            after = claims[-1].number

    def feed(self) -> None:
        """Start runs up to the limit, in turns from each batch, and set completed batches to DONE."""
        to_feed = (
            BatchRow.state == BatchState.GOING.value,
            BatchRow.id.not_in(tuple(self._unreadable)),
            _has_claims_to_start(),
        )
        oldest = select(BatchRow).where(*to_feed).order_by(BatchRow.created_at).limit(self._max_queued)
        with self._sessions() as session:
            batches = tuple(session.scalars(oldest))
        if batches and self._reached_limit() is None:
            self._start_runs(batches)
        self._complete_batches()

    def held_up(self, batch_id: str) -> str | None:
        """Return why the batch cannot continue now, in a sentence for users; None if it can."""
        return UNREADABLE if batch_id in self._unreadable else self._reached_limit()

    def _reached_limit(self) -> str | None:
        try:
            self.runs.admission.check_day()
        except DailyLimitReached as spent:
            return str(spent)
        return None

    def _start_runs(self, batches: tuple[BatchRow, ...]) -> None:
        waiting = select(func.count()).where(RunRow.state == RUNNING, is_free(), in_queue(BATCHES))
        with self._sessions() as session:
            room = max(0, self._max_queued - (session.scalar(waiting) or 0))
            claims = [self._claims_to_start(session, batch, room) for batch in batches]
        in_turn = (claim for claim in chain.from_iterable(zip_longest(*claims)) if claim is not None)
        for batch, claim in islice(in_turn, room):
            try:
                self._start_run(batch, claim)
            except ClaimTaken:
                return  # another process is feeding, or the batch was changed: the next tick starts the rest
            except ValueError as error:
                if batch.id not in self._unreadable:
                    log.warning("batch %s was stored by another version and cannot continue: %s", batch.id, error)
                self._unreadable.add(batch.id)

    def _claims_to_start(
        self, session: Session, batch: BatchRow, number: int
    ) -> Iterator[tuple[BatchRow, BatchClaimRow]]:
        to_start = select(BatchClaimRow).where(BatchClaimRow.batch_id == batch.id, *IS_TO_START)
        found = session.scalars(to_start.order_by(BatchClaimRow.number).limit(number)).all()
        return ((batch, claim) for claim in found)

    def _start_run(self, batch: BatchRow, row: BatchClaimRow) -> None:
        """Start the claim's run. Raises ClaimTaken, or ValueError for options of another version."""
        run_id = new_id()

        def link(session: Session) -> None:
            """Link claim and run. The batch's row is written first, so that a cancellation waits and sees the run."""
            locked = update(BatchRow).where(BatchRow.id == batch.id, BatchRow.state == BatchState.GOING.value)
            linked = update(BatchClaimRow).where(
                BatchClaimRow.batch_id == batch.id, BatchClaimRow.number == row.number, BatchClaimRow.run_id.is_(None)
            )
            for changed in (
                locked.values(state=BatchRow.state).returning(BatchRow.id),
                linked.values(run_id=run_id).returning(BatchClaimRow.number),
            ):
                if session.execute(changed).one_or_none() is None:
                    raise ClaimTaken(f"batch {batch.id} or its claim {row.number} was changed meanwhile")

        started = RunStarted(Claim(row.claim, row.speaker, row.date), decode_options(batch.options))
        self.runs.events.create_run(run_id, batch.owner, started, link, batch=batch.id)
        self.runs.submit(run_id, BATCHES)

    def _complete_batches(self) -> None:
        unfinished = select(RunRow.id).where(RunRow.batch == BatchRow.id, RunRow.state == RUNNING)
        is_open = BatchRow.state.in_((BatchState.GOING.value, BatchState.PAUSED.value))
        completed = (is_open, ~_has_claims_to_start(), ~unfinished.exists())
        with self._sessions() as session:
            found = session.scalar(select(BatchRow.id).where(*completed).limit(1))
        if found is not None:
            with self._sessions.begin() as session:
                session.execute(update(BatchRow).where(*completed).values(state=BatchState.DONE.value))

    def unfinished(self, batch_id: str) -> tuple[str, ...]:
        running = select(RunRow.id).where(RunRow.batch == batch_id, RunRow.state == RUNNING)
        with self._sessions() as session:
            return tuple(session.scalars(running))

    def pause(self, batch_id: str) -> bool:
        """Start no more of its runs; started ones continue. False unless it was going."""
        return self._change(batch_id, BatchState.PAUSED, BatchState.GOING)

    def resume(self, batch_id: str) -> bool:
        """Resume a paused batch. False unless it was paused."""
        return self._change(batch_id, BatchState.GOING, BatchState.PAUSED)

    def cancel(self, batch_id: str) -> bool:
        """Start no more of its runs, and end the unfinished ones. False for a batch that has ended."""
        if not self._change(batch_id, BatchState.CANCELLED, BatchState.GOING, BatchState.PAUSED):
            return False
        self.stop_all(batch_id, Code.BATCH_CANCELLED())
        return True

    def stop_all(self, batch_id: str, reason: Text) -> None:
        for run_id in self.unfinished(batch_id):
            self.runs.interrupt(run_id, reason)

    def retry(self, batch_id: str) -> int:
        """Check every claim again whose run failed or was interrupted; return their number.

        Returns 0 for a cancelled or deleted batch. A paused batch stays paused. The earlier runs are kept.
        """
        again = select(RunRow.id).where(RunRow.batch == batch_id, RunRow.state.in_(FAILED_STATES), is_visible())
        reset = update(BatchClaimRow).where(BatchClaimRow.batch_id == batch_id, BatchClaimRow.run_id.in_(again))
        has_failed = select(BatchClaimRow.number).where(
            BatchClaimRow.batch_id == batch_id, BatchClaimRow.run_id.in_(again)
        )
        can_continue = (BatchRow.state != BatchState.CANCELLED.value, BatchRow.deleted_at.is_(None))
        reopened = update(BatchRow).where(BatchRow.id == batch_id, *can_continue, has_failed.exists())
        state = case((BatchRow.state == BatchState.PAUSED.value, BatchRow.state), else_=BatchState.GOING.value)
        with self._sessions.begin() as session:
            if session.execute(reopened.values(state=state).returning(BatchRow.id)).one_or_none() is None:
                return 0
            return len(session.execute(reset.values(run_id=None).returning(BatchClaimRow.number)).all())

    def _change(self, batch_id: str, state: BatchState, *before: BatchState) -> bool:
        """Change the batch's state; False unless it is one of `before`."""
        changed = update(BatchRow).where(BatchRow.id == batch_id, BatchRow.state.in_([each.value for each in before]))
        return changes_row(self._sessions, changed.values(state=state.value))

    def delete(self, batch_id: str) -> bool:
        """Hide the batch and all its runs, and cancel it if it has not ended. False for an unknown batch.

        Writing the batch's row first blocks the feeder from starting another of its runs.
        """
        ended = case((BatchRow.state.in_(ENDED_STATES), BatchRow.state), else_=BatchState.CANCELLED.value)
        hidden = update(BatchRow).where(BatchRow.id == batch_id, BatchRow.deleted_at.is_(None))
        with self._sessions.begin() as session:
            hiding = hidden.values(state=ended, deleted_at=database_now()).returning(BatchRow.id)
            if session.execute(hiding).one_or_none() is None:
                return False
            deleted_at = select(BatchRow.deleted_at).where(BatchRow.id == batch_id).scalar_subquery()
            session.execute(update(RunRow).where(RunRow.batch == batch_id, is_visible()).values(deleted_at=deleted_at))
        self.stop_all(batch_id, Code.BATCH_DELETED())
        return True

    def restore(self, batch_id: str, owner: str) -> bool:
        """Restore a deleted batch; a cancelled one stays cancelled. False if it is too late or unknown."""
        if is_invalid_id(batch_id):
            return False
        conditions = (BatchRow.id == batch_id, BatchRow.owner == owner, _is_restorable())
        deleted_at = select(BatchRow.deleted_at).where(*conditions).scalar_subquery()
        with self._sessions.begin() as session:
            back = update(RunRow).where(RunRow.batch == batch_id, RunRow.deleted_at == deleted_at)
            session.execute(back.values(deleted_at=None))
            shown = update(BatchRow).where(*conditions).values(deleted_at=None).returning(BatchRow.id)
            if session.execute(shown).one_or_none() is None:
                session.rollback()
                return False
        return True

    def restorable(self, owner: str) -> tuple[Batch, ...]:
        """Return the owner's deleted batches that can still be restored, last deleted first."""
        chosen = select(BatchRow).where(BatchRow.owner == owner, _is_restorable())
        with self._sessions() as session:
            return tuple(map(batch_from_row, session.scalars(chosen.order_by(BatchRow.deleted_at.desc(), BatchRow.id))))

    def purge(self) -> None:
        """Purge the batches that can no longer be restored, but not their runs, and those older than the retention.

        Looks for one first, because a purge without work should not take the write lock.
        """
        too_late = BatchRow.deleted_at <= database_now(-UNDO_SECONDS)
        with self._sessions() as session:
            found = session.scalar(select(BatchRow.id).where(too_late).limit(1))
        if found is not None:
            with self._sessions.begin() as session:
                session.execute(delete(BatchRow).where(too_late))
        if self._retention_days:
            self.forget(self._retention_days)

    def forget(self, days: int) -> None:
        """Delete ended batches older than `days` of which no run is stored any more."""
        has_runs = select(RunRow.id).where(RunRow.batch == BatchRow.id).exists()
        old = BatchRow.created_at < database_now(-days * 86_400)
        with self._sessions.begin() as session:
            session.execute(delete(BatchRow).where(BatchRow.state.in_(ENDED_STATES), old, ~has_runs))


def _is_restorable() -> ColumnElement[bool]:
    return BatchRow.deleted_at > database_now(-UNDO_SECONDS)


def _is_own_run() -> ColumnElement[bool]:
    return RunRow.id == BatchClaimRow.run_id


def _state() -> ColumnElement[str]:
    return case(
        (BatchClaimRow.problem.is_not(None), BAD_INPUT),
        (BatchClaimRow.run_id.is_(None), WAITING),
        (or_(RunRow.id.is_(None), RunRow.deleted_at.is_not(None)), DELETED),
        else_=RunRow.state,
    )


def _status() -> ColumnElement[str]:
    """Return the claim's label, or its state where it has none."""
    return func.coalesce(case((_state() == "verdict", RunRow.label)), _state())


def batch_from_row(row: BatchRow) -> Batch:
    source = SourceText(**row.source) if row.source else None
    return Batch(row.id, row.owner, row.title, BatchState(row.state), row.created_at, source)


def _claim(
    row: BatchClaimRow,
    state: str,
    label: str | None,
    body: dict[str, Any] | None,
    version: int | None,
    note: NoteRow | None,
) -> BatchClaim:
    claim = Claim(row.claim, row.speaker, row.date)
    if state in (BAD_INPUT, WAITING, DELETED):
        return BatchClaim(row.number, claim, state, problem=row.problem or "")
    found, own = Label(label) if label else None, note_from_row(note) if note else None
    confidence, problem, reason = None, "", ""
    with suppress(ValueError):  # of another version
        match decode(body or {}, version or 0):
            case VerdictReached(verdict):
                first = next((each.text for each in verdict.rationale), "")
                confidence, reason = verdict.confidence, str(verdict.missing or first)
            case RunFailed(message) | RunInterrupted(message):
                problem = str(message)
    return BatchClaim(row.number, claim, state, row.run_id, found, confidence, problem, reason, own)


def _has_claims_to_start() -> ColumnElement[bool]:
    return select(BatchClaimRow.number).where(BatchClaimRow.batch_id == BatchRow.id, *IS_TO_START).exists()
