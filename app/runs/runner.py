"""Carry out one run, from its start or after its last complete hop, and store its events.

Every run ends with a terminal event. A process that loses the lease of a run stops without an error, because another
one continues the run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from itertools import pairwise

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from app.domain import events
from app.domain.errors import HopcheckError
from app.domain.instrumentation import Call, Listener, listening, use_stores
from app.domain.messages import Code
from app.domain.model import RunOptions
from app.domain.ports import RunCommand, Strategy
from app.domain.report import Report, apply_event, reduce_events
from app.logging import current_run
from app.runs.budget import Limits, RunBudget, Spending
from app.runs.call_log import CallLog
from app.runs.db import DatabaseUnavailable
from app.runs.event_store import WAITING, EventStore, RunEnded, StoredEvent, Unreadable
from app.runs.leases import Lease, LeaseLost, Leases


class MetricsSink:
    """Gets the events and calls of this process's runs, and ignores them. Never raises; thread-safe."""

    def record(self, run_id: str, event: events.Event) -> None:
        """Record an event that was stored."""

    def forget(self, run_id: str) -> None:
        """Drop the state of a run that has ended or continues in another process."""

    def record_call(self, call: Call, seconds: float) -> None:
        """Record a call of a model or a service that was made and did not fail."""


log = logging.getLogger(__name__)

MAX_LOST_LEASES = 3
"""A run with this many expired leases is not resumed, because it may itself crash its holders."""

MAX_ATTEMPTS = 3
"""Attempts to carry out a run in spite of database errors, before its lease is left to expire."""


class Runner:
    """Carries out runs with the strategy that `strategy_for` returns for their options."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        store: EventStore,
        leases: Leases,
        strategy_for: Callable[[RunOptions], Strategy],
        limits: Limits = Limits(),  # noqa: B008 - it is frozen
        calls: CallLog | None = None,
    ) -> None:
        self._store = store
        self._leases = leases
        self._strategy_for = strategy_for
        self._limits = limits
        self._calls = calls or CallLog(sessions)
        self._spending = Spending(sessions)
        self._is_database_up = True
        self._unreadable: set[str] = set()
        self.metrics = MetricsSink()

    def carry_out(self, run_id: str) -> None:
        """Acquire the run's lease and carry out the run. Does nothing if another process holds the lease.

        After MAX_ATTEMPTS database errors the lease is left to expire, and the run is resumed later. A run that this
        version cannot read is released for processes of another version, and not acquired again.
        """
        current_run.set(run_id)  # of this thread, which may carry out another run after it
        lease = None if run_id in self._unreadable else self._acquire(run_id)
        if lease is None:
            return
        try:
            for _ in range(MAX_ATTEMPTS):
                try:
                    return self._attempt(lease)
                except DatabaseUnavailable as error:
                    log.warning("run %s: %s", run_id, error)
                except SQLAlchemyError:
                    log.exception("run %s: the database failed", run_id)
            log.error("run %s waits until the database works", run_id)
        finally:
            self._leases.stop_renewing(lease)
            self.metrics.forget(run_id)

    def _acquire(self, run_id: str) -> Lease | None:
        """Return the run's lease, or None if it is held or the database fails, which is logged once."""
        try:
            lease = self._leases.acquire(run_id)
        except DatabaseUnavailable as error:
            if self._is_database_up:
                log.warning("runs cannot be started: %s", error)
            self._is_database_up = False
            return None
        self._is_database_up = True
        return lease

    def _attempt(self, lease: Lease) -> None:
        """Carry out the run. Raises database errors only."""
        try:
            self._start_or_resume(lease)
        except LeaseLost:
            log.info("run %s was released or is carried out elsewhere", lease.run_id)
        except Unreadable as error:
            self._unreadable.add(lease.run_id)
            self._leases.release(lease)
            log.warning("run %s is left to another version that can read it: %s", lease.run_id, error.__cause__)
        except RunEnded:
            log.info("run %s was ended elsewhere, for example by its owner", lease.run_id)
        except (DatabaseUnavailable, SQLAlchemyError):
            raise
        except Exception as error:
            is_expected = isinstance(error, HopcheckError)
            if not is_expected:
                log.exception("run %s failed", lease.run_id)
            self._end(lease, events.RunFailed(str(error) if is_expected else Code.INTERNAL_ERROR()))

    def _start_or_resume(self, lease: Lease) -> None:
        """Start or resume the run. Raises Unreadable for events that this version cannot read."""
        stored = self._store.read(lease.run_id)
        if not stored:
            raise RunEnded(f"run {lease.run_id} was deleted")
        try:
            report = reduce_events((each.event, each.seconds) for each in stored)
        except ValueError as error:  # known events in an unknown order
            raise Unreadable from error
        if stored[-1].event == WAITING:
            self._append(lease, events.PhaseEntered(Code.STARTING()))
            return self._run_strategy(lease, self._strategy_for(report.options), report, is_new=True)
        if lease.lost_leases >= MAX_LOST_LEASES:
            return self._end(lease, events.RunInterrupted(Code.CUT_OFF_OFTEN(times=lease.lost_leases)))
        try:
            strategy = self._strategy_for(report.options)
        except HopcheckError as error:
            return self._end(lease, events.RunInterrupted(Code.CUT_OFF_FOR_GOOD(problem=str(error))))
        resumed = events.RunResumed(Code.CUT_OFF())
        self._append(lease, resumed)
        report = apply_event(report, resumed, report.seconds)
        self._run_strategy(lease, strategy, report, worked=worked_seconds(stored))

    def _run_strategy(
        self, lease: Lease, strategy: Strategy, report: Report, *, worked: float = 0.0, is_new: bool = False
    ) -> None:
        control = RunBudget(
            self._limits,
            self._spending.today,
            report.usage,
            worked,
            read_command=lambda: self._store.command(lease.run_id),
        )
        if control.command() is not RunCommand.CONTINUE and not report.hops:
            return self._end(lease, events.RunFailed(control.reason()))
        event: events.Event | None = None
        calls = self._calls.for_run(lease.run_id, is_new=is_new, is_fresh=report.options.fresh)
        with listening(self._listener(lease, control)), use_stores(calls, on_call=self.metrics.record_call):
            for event in strategy.run(report.claim, report.options, report, control):
                self._append(lease, event, control)
        if not isinstance(event, events.TERMINAL):
            raise RuntimeError(f"strategy {report.options.strategy} ended without a terminal event")

    def _listener(self, lease: Lease, control: RunBudget) -> Listener:
        """Return a listener that stores the events reported by modules.

        If the lease is lost, a cost still counts for the day: the call was made, and the process that resumes the run
        replays its reply.
        """

        def listen(event: events.Reported) -> None:
            try:
                self._append(lease, event, control)
            except (LeaseLost, RunEnded):
                if not isinstance(event, events.TokensUsed):
                    raise
                self._spending.add(event.usage)
            if isinstance(event, events.TokensUsed):
                control.count(event.usage)

        return listen

    def _append(self, lease: Lease, event: events.Event, control: RunBudget | None = None) -> None:
        self._store.append(lease, event, control.receive if control else None)
        self.metrics.record(lease.run_id, event)
        _log(lease.run_id, event)

    def _end(self, lease: Lease, event: events.RunFailed | events.RunInterrupted) -> None:
        """Append the terminal event, unless the run was ended elsewhere."""
        try:
            self._append(lease, event)
        except (LeaseLost, RunEnded) as error:
            log.info("%s", error)


def worked_seconds(stored: Iterable[StoredEvent]) -> float:
    """Return the seconds of work on a run, without its wait in the queue and the gaps before it was resumed."""
    return sum(
        later.seconds - earlier.seconds
        for earlier, later in pairwise(stored)
        if earlier.event != WAITING and not isinstance(later.event, events.RunResumed)
    )


def _log(run_id: str, event: events.Event) -> None:
    """Log a resumption, the end of each hop, and the end of the run, without text written by users."""
    match event:
        case events.HopKept(hop):
            log.info("run %s hop %d kept", run_id, hop)
        case events.HopSetAside(hop):  # the reason may quote the question
            log.info("run %s hop %d set aside", run_id, hop)
        case events.HopFailed(hop, module, message):
            log.warning("run %s hop %d failed in the %s: %s", run_id, hop, module, message)
        case events.RunResumed():
            log.info("run %s resumed", run_id)
        case events.VerdictReached(verdict):
            log.info("run %s verdict %s", run_id, verdict.label)
        case events.RunFailed(message) | events.RunInterrupted(message):
            log.warning("run %s %s: %s", run_id, event.kind, message)
