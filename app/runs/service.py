"""What everybody else needs of runs: start one, read one, list some, follow one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from app.batches.feeder import BatchFeeder
from app.batches.service import BatchCommands, BatchDeletion, Batches, BatchLine
from app.domain.errors import InvalidInput
from app.domain.events import Event, RunInterrupted, RunStarted
from app.domain.model import Claim, Question, RunOptions
from app.domain.ports import RunCommand, Strategy
from app.domain.report import reduce_events
from app.runs.admission import Admission, DailyLimitReached, Place, QueueFull, Rejected
from app.runs.branching import inherited_events
from app.runs.budget import Limits
from app.runs.call_log import CallLog
from app.runs.deletion import Deletion
from app.runs.event_store import EventStore, RunEnded, StoredEvent, Unreadable
from app.runs.idempotency import id_for_form, new_id
from app.runs.importing import read_export
from app.runs.jobs import JobRunner, ThreadJobs
from app.runs.leases import LeaseLost, Leases
from app.runs.models import RUNNING, RunRow
from app.runs.notes import Notes
from app.runs.notifications import Notifier
from app.runs.projections import Overview, Position, RunFilter, RunQueries, RunSummary, StoredRun
from app.runs.publishing import Publishing
from app.runs.runner import MetricsSink, Runner
from app.runs.scheduler import Retention, Scheduler

__all__ = [
    "DailyLimitReached",
    "Limits",
    "Place",
    "QueueFull",
    "Rejected",
    "RunFilter",
    "RunSummary",
    "Runs",
    "StoredEvent",
    "StoredRun",
    "Unreadable",
]


class Runs:
    """The runs of one database, what deletes and publishes them, and those that this process carries out."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        strategy_for: Callable[[RunOptions], Strategy],
        *,
        workers: int = 2,
        max_waiting: int = 20,
        limits: Limits = Limits(),  # noqa: B008 - it is frozen
        calls: CallLog | None = None,
        jobs: Callable[[Callable[[str], None], int], JobRunner] = ThreadJobs,
        leases: Leases | None = None,
        notifier: Notifier | None = None,
        retention_days: int = 0,
    ) -> None:
        self._sessions = sessions
        self._events = EventStore(sessions, notifier=notifier)
        self._queries = RunQueries(sessions, self._events)
        self._leases = leases or Leases(sessions)
        self._admission = Admission(sessions, workers, max_waiting, limits)
        self._runner = runner = Runner(sessions, self._events, self._leases, strategy_for, limits, calls)
        self._jobs = jobs(runner.carry_out, workers)
        self.notes = Notes(sessions)
        self.deletion = Deletion(sessions, self.interrupt)
        self.publishing = Publishing(sessions)
        self.overview = Overview(sessions)
        self.retention = Retention(sessions, self.deletion, retention_days)
        self.batches = Batches(sessions)
        self.batch_commands = BatchCommands(sessions, self.interrupt)
        self.batch_deletion = BatchDeletion(sessions, self.batch_commands.stop_all)
        self.feeder = BatchFeeder(sessions, self._events, self._jobs, self._admission.check_day, workers)
        self._retention_days = retention_days
        self._scheduler = Scheduler(self._leases, self._jobs, purge=self._purge, feed=self.feeder.feed)

    def start(self, claim: Claim, options: RunOptions, owner: str, form: str = "", client: str = "") -> str:
        """Store a new run, wake whoever carries it out, and return its id: 128 random bits, safe in a URL.

        `form` is the random name of the form that was sent, if any: sent again as it was, it leads to the same run.
        `client` is an address or a token, which may have half of the queue; "" may have all of it.
        Raises Rejected, as QueueFull or DailyLimitReached, when no run may be started now.
        """
        return self._begin(RunStarted(claim, options), owner, (), form, client)

    def branch(
        self,
        parent: str,
        hop: int,
        question: Question | None,
        options: RunOptions,
        owner: str,
        form: str = "",
        client: str = "",
    ) -> str:
        """Start a run that goes on from `parent`, which must be there, with other options or the same; return its id.

        The hops before `hop` stand. `question` is asked in its place; None leaves it out. Raises InvalidInput for a run
        that has not ended, has no such hop or is gone, and what `start` raises; `form` and `client` are as there.
        """
        stored = self._events.read(parent)
        if not stored:  # it was deleted a moment ago
            raise InvalidInput("The check to go on from is not there any more.", "hop")
        report = reduce_events((each.event, each.seconds) for each in stored)
        inherited = inherited_events((each.event for each in stored), report, parent, hop, question)
        return self._begin(RunStarted(report.claim, options), owner, inherited, form, client)

    def _begin(self, started: RunStarted, owner: str, inherited: Sequence[Event], form: str, client: str) -> str:
        run_id = id_for_form(owner, form, (started, *inherited)) if form else new_id()
        if form and self._queries.exists(run_id):
            return run_id
        self._admission.check_day()
        try:
            admit = partial(self._admission.admit, run_id=run_id, client=client)
            self._events.create_run(run_id, owner, started, admit, inherited)
        except IntegrityError:  # the same was sent at the same moment, or its run was deleted
            return run_id if self._queries.exists(run_id) else self._begin(started, owner, inherited, "", client)
        self._jobs.submit(run_id)
        return run_id

    def start_batch(
        self, lines: Sequence[BatchLine], options: RunOptions, owner: str, title: str, form: str = ""
    ) -> str:
        """Store a batch of claims, begin with the first of them, and return its id. `form` is as for `start`."""
        batch_id = self.batches.create(lines, options, owner, title, form)
        self.feeder.feed()
        return batch_id

    def import_report(self, exported: bytes, owner: str) -> str:
        """Store a JSON export as an ended run of `owner`, marked as imported; return its id. Raises InvalidInput."""
        told, run_id = read_export(exported), new_id()
        self._events.import_run(run_id, owner, told)
        return run_id

    def place(self, run_id: str) -> Place | None:
        """How many turns and about how many seconds a waiting run has to wait; None when it is not waiting."""
        return self._admission.place(run_id)

    def wake(self, run_id: str) -> None:
        """See to it that the run is carried out, if it is unfinished and nobody does."""
        self._jobs.submit(run_id, self._queries.queue_of(run_id))

    def carry_out(self, run_id: str) -> None:
        """Bring the run to its end here and now, if nobody else does: what a worker is for."""
        self._jobs.carry_out(run_id)

    def report(self, run_id: str) -> StoredRun | None:
        """The run as it stands now, or None where there is none. Raises Unreadable for one of another version."""
        return self._queries.get(run_id)

    def check_database(self) -> None:
        """Raises DatabaseUnavailable where no run can be stored now. Asks for the right to write and writes nothing."""
        with self._sessions.begin() as session:
            session.execute(update(RunRow).where(RunRow.id == "").values(last_seq=RunRow.last_seq))

    def recent(
        self,
        owner: str,
        limit: int = 20,
        after: Position | None = None,
        wanted: RunFilter = RunFilter(),  # noqa: B008 - frozen
    ) -> tuple[RunSummary, ...]:
        """The owner's newest runs, newest first; with `after`, those that follow the run of that time and id."""
        return self._queries.of_owner(owner, wanted, limit, after)

    def branches(self, run_id: str) -> tuple[RunSummary, ...]:
        """The runs that branch off this one, oldest first."""
        return self._queries.branches(run_id)

    def follow(self, run_id: str, after: int, wait: float) -> tuple[StoredEvent, ...]:
        """The events numbered above `after`; waits up to `wait` seconds for some, holding no session meanwhile.

        Returns () at once when no more can come.
        """
        return self._events.follow(run_id, after, wait)

    def follow_all(self, after: Mapping[str, int], wait: float) -> dict[str, tuple[StoredEvent, ...]]:
        """As `follow`, for several runs at once: the events of those in which something happened."""
        return self._events.follow_all(after, wait)

    def interrupt(self, run_id: str, message: str) -> bool:
        """End an unfinished run at once, with what it has; whoever carries it out stops at its next step.

        False when the run had ended, or was ended by someone else at the same moment.
        """
        while (lease := self._leases.steal(run_id)) is not None:
            with suppress(LeaseLost, RunEnded):  # another process stole it meanwhile and may have ended the run
                self._events.append(lease, RunInterrupted(message))
                return True
        return False

    def conclude(self, run_id: str) -> bool:
        """Ask for a verdict from what the run has kept; whoever carries it out hears of it at its next step.

        Asking again changes nothing. False when the run had ended.
        """
        asked = (
            update(RunRow).where(RunRow.id == run_id, RunRow.state == RUNNING).values(wish=RunCommand.FINISH_NOW.value)
        )
        with self._sessions.begin() as session:
            return session.execute(asked.returning(RunRow.id)).one_or_none() is not None

    def watch(self, meter: MetricsSink) -> None:
        """Have `meter` told of the runs that this process carries out from now on."""
        self._runner.meter = meter

    def serve(self) -> None:
        """Start the scheduler: orphaned runs are requeued, batches fed and old runs deleted."""
        self._scheduler.start()

    def _purge(self) -> None:
        self.deletion.purge()
        self.batch_deletion.purge()
        self.retention.apply()
        if self._retention_days:
            self.batch_deletion.forget(self._retention_days)

    def stop(self, wait: float = 0.0) -> None:
        """Leave: followers are let go, and every run of this process is free for whoever takes it up.

        Waits at most `wait` seconds for threads that are in the middle of a call; what they still say is not stored.
        """
        self._scheduler.stop()
        self._events.close()
        self._leases.shutdown()
        self._jobs.stop(wait)
