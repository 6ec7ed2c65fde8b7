"""Makes runs of the claims of batches, a few at a time, so that a batch of thousands crowds nobody out.

Every process may feed the same batches: a claim and its run are tied together in the transaction that begins the run,
and whoever comes second takes its run back and leaves the rest to the first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from itertools import chain, islice, zip_longest

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import HopcheckError
from app.domain.events import RunStarted
from app.domain.model import Claim
from app.runs.admission import DaySpent
from app.runs.batches import BatchState
from app.runs.event_store import EventStore, decode_options
from app.runs.idempotency import new_id
from app.runs.jobs import BATCHES, JobRunner
from app.runs.leases import in_queue, is_free
from app.runs.tables import RUNNING, BatchClaimRow, BatchRow, RunRow

log = logging.getLogger(__name__)

LEAST_AHEAD = 8
"""So many runs of batches may wait, so that no worker is idle between two looks, or twice as many as workers."""


class FedElsewhere(HopcheckError):
    """Another process has begun a run for this claim, or the batch does not go on: nothing is stored."""


class BatchFeeder:
    """Feeds the batches of one database to `jobs`. `check_day` raises DaySpent when nothing more may be spent today."""

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
        self._ahead = max(LEAST_AHEAD, 2 * workers)

    def feed(self) -> None:
        """Begin as many runs as may wait, taking turns among the batches, and call those done that are."""
        going = select(BatchRow).where(BatchRow.state == BatchState.GOING.value).order_by(BatchRow.created_at)
        with self._sessions() as session:
            batches = tuple(session.scalars(going.limit(self._ahead)))
        if batches and self.held_up() is None:
            self._begin_some(batches)
        self._finish()

    def held_up(self) -> str | None:
        """Why no batch goes on now, in one sentence, or None."""
        try:
            self._check_day()
        except DaySpent as spent:
            return str(spent)
        return None

    def _begin_some(self, batches: tuple[BatchRow, ...]) -> None:
        waiting = select(func.count()).where(RunRow.state == RUNNING, is_free(), in_queue(BATCHES))
        with self._sessions() as session:
            room = max(0, self._ahead - (session.scalar(waiting) or 0))
            claims = [self._next_claims(session, batch, room) for batch in batches]
        in_turn = (claim for claim in chain.from_iterable(zip_longest(*claims)) if claim is not None)
        for batch, claim in islice(in_turn, room):
            try:
                self._begin(batch, claim)
            except FedElsewhere:
                return
            except ValueError as error:
                log.warning("batch %s was stored by another version and does not go on: %s", batch.id, error)

    def _next_claims(self, session: Session, batch: BatchRow, number: int) -> Iterator[tuple[BatchRow, BatchClaimRow]]:
        unfed = (BatchClaimRow.batch_id == batch.id, BatchClaimRow.run_id.is_(None), BatchClaimRow.problem.is_(None))
        found = session.scalars(select(BatchClaimRow).where(*unfed).order_by(BatchClaimRow.number).limit(number)).all()
        return ((batch, claim) for claim in found)

    def _begin(self, batch: BatchRow, row: BatchClaimRow) -> None:
        """Begin the claim's run. Raises FedElsewhere, and ValueError for options that cannot be read."""
        run_id = new_id()

        def tie(session: Session) -> None:
            """Writing the batch's row first holds off whoever cancels it until the run is there to be ended."""
            held = update(BatchRow).where(BatchRow.id == batch.id, BatchRow.state == BatchState.GOING.value)
            tied = update(BatchClaimRow).where(
                BatchClaimRow.batch_id == batch.id, BatchClaimRow.number == row.number, BatchClaimRow.run_id.is_(None)
            )
            for changed in (
                held.values(state=BatchRow.state).returning(BatchRow.id),
                tied.values(run_id=run_id).returning(BatchClaimRow.number),
            ):
                if session.execute(changed).one_or_none() is None:
                    raise FedElsewhere(f"batch {batch.id} is fed elsewhere")

        started = RunStarted(Claim(row.claim, row.speaker, row.date), decode_options(batch.options))
        self._events.create_run(run_id, batch.owner, started, tie, batch=batch.id)
        self._jobs.submit(run_id, BATCHES)

    def _finish(self) -> None:
        """Call the batches done in which nothing is left to do."""
        unfed = select(BatchClaimRow.number).where(
            BatchClaimRow.batch_id == BatchRow.id, BatchClaimRow.run_id.is_(None), BatchClaimRow.problem.is_(None)
        )
        unfinished = select(RunRow.id).where(RunRow.batch == BatchRow.id, RunRow.state == RUNNING)
        is_open = BatchRow.state.in_((BatchState.GOING.value, BatchState.PAUSED.value))
        over = (is_open, ~unfed.exists(), ~unfinished.exists())
        with self._sessions() as session:
            found = session.scalar(select(BatchRow.id).where(*over).limit(1))
        if found is not None:
            with self._sessions.begin() as session:
                session.execute(update(BatchRow).where(*over).values(state=BatchState.DONE.value))
