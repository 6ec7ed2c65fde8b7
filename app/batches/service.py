"""Store, read, control and delete batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from app.domain.events import RunFailed, RunInterrupted, RunStarted, VerdictReached
from app.domain.messages import Code, Text
from app.domain.model import BatchLine, Claim, Label, Note, RunOptions, SourceText
from app.runs.admission import id_for_form, is_invalid_id, new_id
from app.runs.db import changes_row, database_now
from app.runs.event_store import decode, decode_options, encode_options
from app.runs.lifecycle import UNDO_SECONDS
from app.runs.models import RUNNING, BatchClaimRow, BatchRow, EventRow, NoteRow, RunRow, is_visible
from app.runs.notes import is_own_verdict, note_from_row

BAD_INPUT, WAITING, DELETED = "bad input", "waiting", "deleted"
"""States of a claim without a run: not valid, not started yet, run deleted. Others have the state of their run."""

FAILED_STATES = ("failed", "interrupted")
"""States of a run that ended without a verdict; its claim can be retried."""

CLAIMS_PER_READ = 500


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
    """Store and read the batches of one database. `get` and `of_owner` leave out deleted ones."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def create(
        self,
        lines: Sequence[BatchLine],
        options: RunOptions,
        owner: str,
        title: str,
        form: str = "",
        source: SourceText | None = None,
    ) -> str:
        """Store a new batch in state GOING and return its id, which is hard to guess.

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
            return batch_id if self.get(batch_id) else self.create(lines, options, owner, title, source=source)
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
        """Count the batch's claims by state."""
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


class BatchCommands:
    """Pause, resume, cancel and retry batches. `stop` ends an unfinished run, given its id and the reason."""

    def __init__(self, sessions: sessionmaker[Session], stop: Callable[[str, Text], bool]) -> None:
        self._sessions = sessions
        self._stop = stop

    def unfinished(self, batch_id: str) -> tuple[str, ...]:
        """Return the batch's runs that have not ended."""
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
        """End the batch's unfinished runs."""
        for run_id in self.unfinished(batch_id):
            self._stop(run_id, reason)

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


ENDED_STATES = (BatchState.DONE.value, BatchState.CANCELLED.value)


class BatchDeletion:
    """Delete and restore batches with their runs, and purge batches; `Deletion` purges their runs (runs/lifecycle.py).

    Runs that were deleted before their batch are not restored with it. Branches of deleted runs stay.
    """

    def __init__(
        self, sessions: sessionmaker[Session], stop_all: Callable[[str, Text], None], undo_seconds: float = UNDO_SECONDS
    ) -> None:
        """Let a deleted batch be restored for `undo_seconds`.

        `stop_all` ends a batch's unfinished runs, given its id and the reason.
        """
        self._sessions = sessions
        self._stop_all = stop_all
        self._undo_seconds = undo_seconds

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
        self._stop_all(batch_id, Code.BATCH_DELETED())
        return True

    def restore(self, batch_id: str, owner: str) -> bool:
        """Restore a deleted batch; a cancelled one stays cancelled. False if it is too late or unknown."""
        if is_invalid_id(batch_id):
            return False
        conditions = (BatchRow.id == batch_id, BatchRow.owner == owner, self._is_restorable())
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
        chosen = select(BatchRow).where(BatchRow.owner == owner, self._is_restorable())
        with self._sessions() as session:
            return tuple(map(batch_from_row, session.scalars(chosen.order_by(BatchRow.deleted_at.desc(), BatchRow.id))))

    def purge(self) -> None:
        """Purge the batches that can no longer be restored, but not their runs.

        Looks for one first, because a purge without work should not take the write lock.
        """
        too_late = BatchRow.deleted_at <= database_now(-self._undo_seconds)
        with self._sessions() as session:
            found = session.scalar(select(BatchRow.id).where(too_late).limit(1))
        if found is not None:
            with self._sessions.begin() as session:
                session.execute(delete(BatchRow).where(too_late))

    def forget(self, days: int) -> None:
        """Delete ended batches older than `days` of which no run is stored any more."""
        has_runs = select(RunRow.id).where(RunRow.batch == BatchRow.id).exists()
        old = BatchRow.created_at < database_now(-days * 86_400)
        with self._sessions.begin() as session:
            session.execute(delete(BatchRow).where(BatchRow.state.in_(ENDED_STATES), old, ~has_runs))

    def _is_restorable(self) -> ColumnElement[bool]:
        return BatchRow.deleted_at > database_now(-self._undo_seconds)
