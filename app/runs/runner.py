"""Carries out one run: a strategy's events go into the log, and every run ends with a terminal event."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from app.reasoning import progress
from app.reasoning.errors import HopcheckError
from app.reasoning.events import (
    Event,
    HopFailed,
    HopKept,
    HopSetAside,
    PhaseEntered,
    RunFailed,
    RunInterrupted,
    VerdictReached,
)
from app.reasoning.roles import Strategy, Wish
from app.reasoning.types import Claim, RunOptions
from app.runs.event_log import EventLog, RunEnded

log = logging.getLogger(__name__)

SOMETHING_WRONG = "Something went wrong inside Hopcheck; the log has the details."


class StopSignal:
    """The Control of every run of a process: go on until the process shuts down."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Every run ends at its next step."""
        self._stopped.set()

    def wish(self) -> Wish:
        """STOP once told to, GO_ON before."""
        return Wish.STOP if self._stopped.is_set() else Wish.GO_ON

    def reason(self) -> str:
        """Why a run ends before its time."""
        return "Hopcheck was shut down."


class Runner:
    """Runs what `strategy_for` gives for a run's options and appends all that happens."""

    def __init__(self, events: EventLog, strategy_for: Callable[[RunOptions], Strategy], control: StopSignal) -> None:
        self._events = events
        self._strategy_for = strategy_for
        self._control = control

    def carry_out(self, run_id: str, claim: Claim, options: RunOptions) -> None:
        """Run to the end. Never raises: what goes wrong is logged with the run's id and ends the run."""
        try:
            self._carry_out(run_id, claim, options)
        except RunEnded:
            log.warning("run %s was ended by someone else", run_id)
        except HopcheckError as error:
            self._end(run_id, RunFailed(str(error)))
        except Exception:
            log.exception("run %s failed", run_id)
            self._end(run_id, RunFailed(SOMETHING_WRONG))

    def _carry_out(self, run_id: str, claim: Claim, options: RunOptions) -> None:
        def append(event: Event) -> None:
            self._events.append(run_id, event)
            _log(run_id, event)

        if self._control.wish() is Wish.STOP:
            append(RunInterrupted("Hopcheck was shut down before this run had its turn."))
            return
        append(PhaseEntered("starting"))
        strategy = self._strategy_for(options)
        event: Event | None = None
        with progress.listening(append):
            for event in strategy.run(claim, options, control=self._control):
                append(event)
        if not isinstance(event, VerdictReached | RunFailed | RunInterrupted):
            raise RuntimeError(f"strategy {options.strategy} ended without a terminal event")

    def _end(self, run_id: str, event: RunFailed) -> None:
        try:
            self._events.append(run_id, event)
            _log(run_id, event)
        except Exception:  # the database itself is at fault; recover() ends the run when the process starts again
            log.exception("run %s could not be ended", run_id)


def _log(run_id: str, event: Event) -> None:
    """One line a hop and one for the end. What people wrote stays out of the log."""
    match event:
        case HopKept(hop):
            log.info("run %s hop %d kept", run_id, hop)
        case HopSetAside(hop, reason):
            log.info("run %s hop %d set aside: %s", run_id, hop, reason)
        case HopFailed(hop, module, message):
            log.warning("run %s hop %d failed in the %s: %s", run_id, hop, module, message)
        case VerdictReached(verdict):
            log.info("run %s verdict %s", run_id, verdict.label)
        case RunFailed(message) | RunInterrupted(message):
            log.warning("run %s %s: %s", run_id, event.kind, message)
