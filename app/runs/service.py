"""The entry point to runs: start, read, list, follow and stop them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import HopcheckError, InvalidInput, NotNow
from app.domain.events import (
    TERMINAL,
    AnswerFound,
    Event,
    FactChecksFound,
    HopFailed,
    HopKept,
    HopSetAside,
    QuestionAsked,
    RunBranched,
    RunInterrupted,
    RunResumed,
    RunStarted,
    StepFailed,
    SufficiencyJudged,
    TroubleMet,
)
from app.domain.messages import Code, Text, Words
from app.domain.model import Branch, Claim, Hop, Question, RunOptions
from app.domain.ports import RunCommand, Strategy
from app.domain.report import Report, reduce_events
from app.runs.admission import Admission, DailyLimitReached, Place, QueueFull, Rejected, id_for_form, new_id
from app.runs.budget import Limits, Spending
from app.runs.call_log import CallLog
from app.runs.db import changes_row
from app.runs.event_store import EventStore, RunEnded, StoredEvent, Unreadable
from app.runs.jobs import RESUBMIT_SECONDS, JobRunner, Scheduler, ThreadJobs
from app.runs.leases import LeaseLost, Leases
from app.runs.lifecycle import PURGE_LIMIT, Deletion, Publishing
from app.runs.models import RUNNING, RunRow
from app.runs.notes import Notes
from app.runs.notifications import Notifier
from app.runs.projections import RunFilter, RunQueries, RunSummary, StoredRun
from app.runs.runner import MetricsSink, Runner
from app.runs.transfer import read_export

_CLOSING = (HopKept, HopSetAside, HopFailed)
_INHERITED = (QuestionAsked, AnswerFound, *_CLOSING, StepFailed, SufficiencyJudged, TroubleMet, FactChecksFound)
"""Phases, costs and resumptions are not inherited: they belong to the earlier run."""


def inherited_events(
    events: Iterable[Event], report: Report, parent: str, number: int, question: Question | None
) -> tuple[Event, ...]:
    """Return the first events of a branch that asks `question` in place of hop `number`, or leaves that hop out.

    `events` and `report` are those of the run `parent`. Raises InvalidInput where that run cannot have this branch.
    """
    hop = hop_to_change(report, number)
    first = (RunBranched(Branch(parent, number, question)), *_before(events, number))
    if question is not None:
        return first
    if not hop.question.text:
        raise InvalidInput(Words("That hop has no question, so there is nothing to leave out."), "question")
    found = (AnswerFound(number, hop.answer),) if hop.answer else ()
    return (*first, QuestionAsked(number, hop.question), *found, HopSetAside(number, Code.LEFT_OUT()))


def hop_to_change(report: Report, number: int) -> Hop:
    """Return that hop of an ended run; the number after the last one is a hop to add, which has no question yet.

    Raises InvalidInput for an unknown hop or an imported run, NotNow for an unfinished one.
    """
    if report.imported:
        raise InvalidInput(Words("An imported report cannot be continued; check its claim again instead."), "hop")
    if not report.ended:
        raise NotNow(Words("This check is still running; stop it first, or wait for its end."), "hop")
    if not 1 <= number <= len(report.hops) + 1:
        raise InvalidInput(Words("This check has no hop {number}.", number=number), "hop")
    return report.hops[number - 1] if number <= len(report.hops) else Hop(number, Question(""))


def _before(events: Iterable[Event], number: int) -> tuple[Event, ...]:
    """Return the inherited events before hop `number`, without those that a resumed run asked again."""
    kept: list[Event] = []
    for event in events:
        if getattr(event, "hop", 0) >= number:
            break
        if isinstance(event, RunResumed):
            closed = {each.hop for each in kept if isinstance(each, _CLOSING)}
            kept = [each for each in kept if getattr(each, "hop", None) in {None, *closed}]
        elif isinstance(event, _INHERITED):
            kept.append(event)
    return tuple(kept)


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
    """The runs of one database, and the workers of this process that carry them out."""

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
        self.events = EventStore(sessions, notifier=notifier)
        self.follow = self.events.follow
        self.queries = RunQueries(sessions, self.events)
        self.report, self.recent = self.queries.get, self.queries.of_owner
        self._leases = leases or Leases(sessions)
        self.admission = Admission(sessions, workers, max_waiting, limits)
        self.limits, self.spending = limits, Spending(sessions)
        self._runner = runner = Runner(sessions, self.events, self._leases, strategy_for, limits, calls)
        self._jobs = jobs(runner.carry_out, workers)
        self.submit, self.carry_out, self.workers = self._jobs.submit, self._jobs.carry_out, self._jobs.workers
        self.notes = Notes(sessions)
        self.deletion = Deletion(sessions, self.interrupt)
        self.publishing = Publishing(sessions)
        self._retention_days = retention_days
        self._scheduler = Scheduler(self._leases, self._jobs)
        self.do_periodically = self._scheduler.also
        self.do_periodically(self._purge)

    def start(self, claim: Claim, options: RunOptions, owner: str, form: str = "", client: str = "") -> str:
        """Store a new run, submit it, and return its id, which has 128 random bits.

        `form` is the random name of the form that was sent, if any; the same form sent twice starts one run. `client`
        is an address or a token, which may fill half of the queue; "" is not limited. Raises QueueFull or
        DailyLimitReached, both of them Rejected.
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
        """Start a run that continues `parent` from before `hop`; return its id.

        `question` is asked in place of that hop; None leaves it out. Raises InvalidInput for a run that is imported,
        has not ended, has no such hop or was deleted, and Unreadable for one of another version. `form`, `client` and
        other errors are those of `start`.
        """
        stored = self.events.read(parent)
        if not stored:  # just deleted
            raise InvalidInput(Words("The check to continue was deleted."), "hop")
        report = reduce_events((each.event, each.seconds) for each in stored)
        inherited = inherited_events((each.event for each in stored), report, parent, hop, question)
        return self._begin(RunStarted(report.claim, options), owner, inherited, form, client)

    def _begin(self, started: RunStarted, owner: str, inherited: Sequence[Event], form: str, client: str) -> str:
        run_id = id_for_form(owner, form, (started, *inherited)) if form else new_id()
        if form and self.queries.exists(run_id):
            return run_id
        self.admission.check_day()
        try:
            admit = partial(self.admission.admit, run_id=run_id, client=client)
            self.events.create_run(run_id, owner, started, admit, inherited)
        except IntegrityError:  # sent twice at once, or its run was deleted
            return run_id if self.queries.exists(run_id) else self._begin(started, owner, inherited, "", client)
        self.submit(run_id)
        return run_id

    def import_report(self, exported: bytes, owner: str) -> str:
        """Store a JSON export as an ended run of `owner`, marked as imported; return its id. Raises InvalidInput."""
        events, run_id = read_export(exported), new_id()
        self.events.import_run(run_id, owner, events)
        return run_id

    def place(self, run_id: str) -> Place | None:
        place = self.admission.place(run_id)
        if place is None:
            return None
        with suppress(HopcheckError):
            if self.workers() == ():
                return replace(place, seconds=None, has_worker=False)
        return place

    def wake(self, run_id: str) -> None:
        """Expire stale leases and submit the run.

        This has no effect on a run that has ended or that another process carries out.
        """
        self._leases.expire_stale()
        self.submit(run_id, self.queries.queue_of(run_id))

    def check_database(self) -> None:
        """Raise DatabaseUnavailable if the database cannot be written. Changes nothing."""
        with self._sessions.begin() as session:
            session.execute(update(RunRow).where(RunRow.id == "").values(last_seq=RunRow.last_seq))

    def until_end(
        self, run_id: str, after: int = 0, seconds: float = math.inf, wait: float = RESUBMIT_SECONDS
    ) -> Iterator[StoredEvent]:
        """Yield the events above `after` until the run has ended or was deleted, for at most `seconds` seconds.

        A run without events for `wait` seconds is submitted again: a database failure may have kept it from starting,
        and there may be no scheduler.
        """
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            new = self.follow(run_id, after, min(wait, left))
            yield from new
            after = new[-1].seq if new else after
            if new and isinstance(new[-1].event, TERMINAL):
                return
            if not new and ((run := self.report(run_id)) is None or run.report.ended):
                return
            if not new:
                self.wake(run_id)

    def interrupt(self, run_id: str, message: Text) -> bool:
        """End an unfinished run at once; return False if it had ended. Its process stops at its next step."""
        while (lease := self._leases.steal(run_id)) is not None:
            with suppress(LeaseLost, RunEnded):  # another process stole it meanwhile and may have ended the run
                self.events.append(lease, RunInterrupted(message))
                return True
        return False

    def conclude(self, run_id: str) -> bool:
        """Request a verdict from the hops so far; the run reads the request at its next step.

        Return False if it had ended.
        """
        running = update(RunRow).where(RunRow.id == run_id, RunRow.state == RUNNING)
        return changes_row(self._sessions, running.values(command=RunCommand.FINISH_NOW.value))

    def use_metrics(self, metrics: MetricsSink) -> None:
        """Report the runs that this process carries out from now on to `metrics`."""
        self._runner.metrics = metrics

    def serve(self) -> None:
        self._scheduler.start()

    def _purge(self) -> None:
        self.deletion.purge()
        if self._retention_days:
            self.deletion.purge_older(self._retention_days, PURGE_LIMIT)

    def stop(self, wait: float = 0.0) -> None:
        """Shut down: release the followers and the leases of this process.

        Waits at most `wait` seconds for threads in the middle of a call. No event is appended for its result; its reply
        is stored for the process that resumes the run.
        """
        self._scheduler.stop()
        self.events.close()
        self._leases.shutdown()
        self._jobs.stop(wait)
