"""Start the runs of batches a few at a time, so that a large batch does not fill the queue.

Several processes may feed the same batches: a claim is linked to its run in the transaction that creates the run, which
is rolled back if the claim has a run already.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from itertools import chain, islice, zip_longest

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.batches.service import BatchState
from app.domain.errors import HopcheckError
from app.domain.events import RunStarted
from app.domain.model import Claim
from app.runs.admission import DailyLimitReached, new_id
from app.runs.event_store import EventStore, decode_options
from app.runs.jobs import JobRunner
from app.runs.leases import in_queue, is_free
from app.runs.models import BATCHES, RUNNING, BatchClaimRow, BatchRow, RunRow

log = logging.getLogger(__name__)

MIN_QUEUED = 8
"""Runs of batches kept in the queue (more with more than four workers), so that no worker idles between two feeds."""


IS_TO_START = (BatchClaimRow.run_id.is_(None), BatchClaimRow.problem.is_(None))
"""Conditions for a valid claim whose run has not been started."""

UNREADABLE = "It was stored by another version of Hopcheck, and this one cannot continue it."


class ClaimTaken(HopcheckError):
    """The claim has a run already, or its batch was paused or has ended."""


class BatchFeeder:
    """Submits runs of batches to `jobs`. `check_day` raises DailyLimitReached while no run may be started."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        events: EventStore,
        jobs: JobRunner,
        check_day: Callable[[], None],
        workers: int,
    ) -> None:
        self._sessions = sessions
        self._events = events
        self._jobs = jobs
        self._check_day = check_day
        self._max_queued = max(MIN_QUEUED, 2 * workers)
        self._unreadable: set[str] = set()
        """The ids of batches whose options were stored by another version."""

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
            self._check_day()
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
        self._events.create_run(run_id, batch.owner, started, link, batch=batch.id)
        self._jobs.submit(run_id, BATCHES)

    def _complete_batches(self) -> None:
        unfinished = select(RunRow.id).where(RunRow.batch == BatchRow.id, RunRow.state == RUNNING)
        is_open = BatchRow.state.in_((BatchState.GOING.value, BatchState.PAUSED.value))
        completed = (is_open, ~_has_claims_to_start(), ~unfinished.exists())
        with self._sessions() as session:
            found = session.scalar(select(BatchRow.id).where(*completed).limit(1))
        if found is not None:
            with self._sessions.begin() as session:
                session.execute(update(BatchRow).where(*completed).values(state=BatchState.DONE.value))


def _has_claims_to_start() -> ColumnElement[bool]:
    return select(BatchClaimRow.number).where(BatchClaimRow.batch_id == BatchRow.id, *IS_TO_START).exists()
