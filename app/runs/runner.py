"""Carries out one run, from its beginning or from where it was cut off; what happens goes into the log.

Every run ends with a terminal event, and only one holder of its lease at a time brings it there: one that has lost the
lease stops quietly, for the run goes on elsewhere or waits to be taken up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from app.domain import progress
from app.domain.calls import ResponseStore, use_stores
from app.domain.errors import HopcheckError
from app.domain.events import (
    TERMINAL,
    Event,
    HopFailed,
    HopKept,
    HopSetAside,
    PhaseEntered,
    RunFailed,
    RunInterrupted,
    RunResumed,
    RunStarted,
    TokensUsed,
    TroubleMet,
    VerdictReached,
)
from app.domain.model import RunOptions
from app.domain.ports import RunCommand, Strategy
from app.domain.report import Report, apply_event, reduce_events
from app.runs.budget import Limits, RunBudget, Spending
from app.runs.call_log import CallLog
from app.runs.db import DatabaseUnavailable
from app.runs.event_store import WAITING, EventStore, RunEnded, StoredEvent, Unreadable
from app.runs.leases import Lease, LeaseLost, Leases

# Who measures how runs are carried out. Nobody does unless it is asked for (app/runs/metrics.py).


class MetricsSink(Protocol):
    """Is told what is stored of each run that this process carries out. Never raises; safe to share by threads."""

    def stored(self, run_id: str, event: Event) -> None:
        """The run has had one more event."""

    def left(self, run_id: str) -> None:
        """The run is carried out here no longer: it has ended, or it goes on elsewhere."""

    def stores(self) -> tuple[ResponseStore, ...]:
        """Return stores to use after all others of a run, where they see every call that is really made."""


class NullMetrics:
    """Measures nothing."""

    def stored(self, run_id: str, event: Event) -> None: ...

    def left(self, run_id: str) -> None: ...

    def stores(self) -> tuple[ResponseStore, ...]:
        return ()


log = logging.getLogger(__name__)

INTERNAL_ERROR = "Something went wrong inside Hopcheck; the log has the details."
MAX_LOST_LEASES = 3
"""A run that lost so many holders is not resumed: it may be what kills them."""

MAX_ATTEMPTS = 3
"""So often a run goes on from its log when the database fails in the middle, before it is left to lapse."""


class Runner:
    """Runs what `strategy_for` gives for a run's options. Without `calls`, runs share no replies."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        events: EventStore,
        leases: Leases,
        strategy_for: Callable[[RunOptions], Strategy],
        limits: Limits = Limits(),  # noqa: B008 - it is frozen
        calls: CallLog | None = None,
    ) -> None:
        self._events = events
        self._leases = leases
        self._strategy_for = strategy_for
        self._limits = limits
        self._calls = calls or CallLog(sessions)
        self._spending = Spending(sessions)
        self._well = True
        self._refused: set[str] = set()
        self.meter: MetricsSink = NullMetrics()

    def carry_out(self, run_id: str) -> None:
        """Take the run's lease and bring the run to its end. Without the lease there is nothing to do.

        A database that fails is given time; then the lease is left to lapse, and someone takes the run up later. A run
        that this version cannot read is left to one that can, and refused from then on.
        """
        lease = None if run_id in self._refused else self._take(run_id)
        if lease is None:
            return
        try:
            for _ in range(MAX_ATTEMPTS):
                try:
                    return self._carry_out(lease)
                except DatabaseUnavailable as error:
                    log.warning("run %s: %s", run_id, error)
                except SQLAlchemyError:
                    log.exception("run %s: the database failed", run_id)
            log.error("run %s is left until the database works", run_id)
        finally:
            self._leases.stop_renewing(lease)
            self.meter.left(run_id)

    def _take(self, run_id: str) -> Lease | None:
        """The run's lease; None also while the database cannot be written, which is said once until it can be."""
        try:
            lease = self._leases.acquire(run_id)
        except DatabaseUnavailable as error:
            if self._well:
                log.warning("runs cannot be taken up: %s", error)
            self._well = False
            return None
        self._well = True
        return lease

    def _carry_out(self, lease: Lease) -> None:
        """Handles everything but trouble with the database, which it raises."""
        try:
            self._go_on(lease)
        except LeaseLost:
            log.info("run %s is let go of, or carried out elsewhere", lease.run_id)
        except Unreadable as error:
            self._refused.add(lease.run_id)
            self._leases.release(lease)
            log.warning("run %s is left to a version that can read it: %s", lease.run_id, error.__cause__)
        except RunEnded:
            log.warning("run %s was ended by someone else", lease.run_id)
        except (DatabaseUnavailable, SQLAlchemyError):
            raise
        except Exception as error:
            told = isinstance(error, HopcheckError)
            if not told:
                log.exception("run %s failed", lease.run_id)
            self._end(lease, RunFailed(str(error) if told else INTERNAL_ERROR))

    def _go_on(self, lease: Lease) -> None:
        """From the beginning, or from the last whole hop. Raises Unreadable for what this version cannot read."""
        stored = self._events.read(lease.run_id)
        try:
            report = reduce_events((each.event, each.seconds) for each in stored)
        except ValueError as error:  # events that it knows, in an order that it does not
            raise Unreadable from error
        if stored[-1].event == WAITING:
            self._append(lease, PhaseEntered("starting"))
            return self._run(lease, self._strategy_for(report.options), report, stored)
        if lease.lost_leases >= MAX_LOST_LEASES:
            message = f"The check was cut off {lease.lost_leases} times and is not taken up again."
            return self._end(lease, RunInterrupted(message))
        try:
            strategy = self._strategy_for(report.options)
        except HopcheckError as error:
            return self._end(lease, RunInterrupted(f"The check was cut off and cannot go on. {error}"))
        resumed = RunResumed("The check was cut off.")
        self._append(lease, resumed)
        self._run(lease, strategy, apply_event(report, resumed, report.seconds), stored)

    def _run(self, lease: Lease, strategy: Strategy, report: Report, stored: Sequence[StoredEvent]) -> None:
        control = RunBudget(
            self._limits,
            self._spending.today,
            report.usage,
            worked_seconds(stored),
            read_command=lambda: self._events.command(lease.run_id),
        )
        if control.command() is not RunCommand.CONTINUE and not report.hops:
            return self._end(lease, RunFailed(f"{control.reason()} Nothing had been looked at by then."))
        event: Event | None = None
        calls = self._calls.for_run(lease.run_id, stored[-1].event == WAITING, report.options.fresh)
        with progress.listening(self._listener(lease, control)), use_stores(calls, *self.meter.stores()):
            for event in strategy.run(report.claim, report.options, report, control):
                self._append(lease, event, control)
        if not isinstance(event, TERMINAL):
            raise RuntimeError(f"strategy {report.options.strategy} ended without a terminal event")

    def _listener(self, lease: Lease, control: RunBudget) -> progress.Listener:
        """Stores what modules report.

        A cost is told once its call has been made, so it is counted even when the lease is gone, and what reported it
        goes on: the process that resumes the run finds the reply in the call log.
        """

        def listen(event: PhaseEntered | TokensUsed | TroubleMet) -> None:
            try:
                self._append(lease, event, control)
            except (LeaseLost, RunEnded):
                if not isinstance(event, TokensUsed):
                    raise
                self._spending.add(event.usage)
            if isinstance(event, TokensUsed):
                control.count(event.usage)

        return listen

    def _append(self, lease: Lease, event: Event, control: RunBudget | None = None) -> None:
        self._events.append(lease, event, control.receive if control else None)
        self.meter.stored(lease.run_id, event)
        _log(lease.run_id, event)

    def _end(self, lease: Lease, event: RunFailed | RunInterrupted) -> None:
        """The last word on a run, unless someone else has had it."""
        try:
            self._append(lease, event)
        except (LeaseLost, RunEnded) as error:
            log.info("%s", error)


def worked_seconds(stored: Iterable[StoredEvent]) -> float:
    """Return the time spent on a run: without its wait in the queue and the gaps before it was resumed."""
    idle = (RunStarted, RunResumed)
    return sum(
        later.seconds - earlier.seconds
        for earlier, later in pairwise(stored)
        if earlier.event != WAITING and not isinstance(earlier.event, RunStarted) and not isinstance(later.event, idle)
    )


def _log(run_id: str, event: Event) -> None:
    """One line a hop and one for the end. What people wrote stays out of the log."""
    match event:
        case HopKept(hop):
            log.info("run %s hop %d kept", run_id, hop)
        case HopSetAside(hop):  # the reason may quote the question
            log.info("run %s hop %d set aside", run_id, hop)
        case HopFailed(hop, module, message):
            log.warning("run %s hop %d failed in the %s: %s", run_id, hop, module, message)
        case RunResumed():
            log.info("run %s taken up again", run_id)
        case VerdictReached(verdict):
            log.info("run %s verdict %s", run_id, verdict.label)
        case RunFailed(message) | RunInterrupted(message):
            log.warning("run %s %s: %s", run_id, event.kind, message)
