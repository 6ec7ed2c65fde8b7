"""Speculative tasks: run work that is probably needed next in parallel with the current work.

    with Ahead(on=True) as ahead:
        ahead.begin("next question", ask)          # starts a thread
        ...
        question = ahead.take("next question", ask)

`take` returns what a direct call would return, or raises its error. A dropped task makes no further calls; its
errors are discarded, and its cost is reported at once and counts towards all limits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any, Generic, Self, TypeVar

from app.domain import instrumentation as progress
from app.domain.events import Event, PhaseEntered, TokensUsed, TroubleMet
from app.domain.instrumentation import Call, CallCancelled, cancellable, check_cancelled
from app.domain.ports import Control, RunCommand

T = TypeVar("T")

DRAIN_SECONDS = 2.0
"""Maximum wait for dropped calls before the run's total cost is computed."""

GRACE_SECONDS = 0.05
"""Delay before a costly speculative call, in which the result of a parallel call may make it unnecessary."""


class Ahead:
    """The speculative tasks of a run or of one answer. With `on` False every call is made directly."""

    def __init__(self, on: bool = True, control: Control | None = None) -> None:
        """Tasks start only while `control` says CONTINUE. They inherit the current context: listener and stores."""
        self.on = on
        self._control = control
        self._home = copy_context()
        self._begun: dict[Hashable, SpeculativeTask[Any]] = {}
        self._cancelled: list[SpeculativeTask[Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.drop()

    def begin(self, key: Hashable, work: Callable[[], T], costly: int | None = None) -> SpeculativeTask[T]:
        """Start `work` in a thread, unless a task of this key exists.

        `costly` bounds its costly calls: each waits GRACE_SECONDS first, and a call over the bound waits until the
        task is taken. None sets no bound.
        """
        if key not in self._begun:
            self._begun[key] = SpeculativeTask(work, self._may_start, costly)
            # No pool: the threads of the standard library's are joined when the interpreter ends, and a model call
            # that takes minutes must not hold a shutdown up.
            run = self._home.copy().run
            threading.Thread(target=run, args=(self._begun[key].run,), name="ahead", daemon=True).start()
        return self._begun[key]

    def take(self, key: Hashable, work: Callable[[], T]) -> T:
        """Wait for the task of `key` and return its result; call `work` when there is none or it was cancelled."""
        begun = self._begun.pop(key, None)
        if begun is not None:
            try:
                return begun.commit()
            except CallCancelled:
                pass
        return work()

    def drop(self) -> None:
        """Cancel all tasks without waiting."""
        self._cancelled += self._begun.values()
        for each in self._begun.values():
            each.drop()
        self._begun.clear()

    def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Wait briefly until cancelled tasks have reported their cost; not at all when the run must end now."""
        if self._control is None or self._control.command() not in (RunCommand.STOP, RunCommand.FINISH_NOW):
            wait([each.outcome for each in self._cancelled], seconds)

    def drained(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield the same events, each after `drain`."""
        for event in events:
            self.drain()
            yield event

    def _may_start(self) -> bool:
        return self._control is None or self._control.command() is RunCommand.CONTINUE


class SpeculativeTask(Generic[T]):
    """One speculative piece of work, until it is committed or dropped."""

    def __init__(self, work: Callable[[], T], may_go_on: Callable[[], bool], costly: int | None = None) -> None:
        self.outcome: Future[T] = Future()
        self._work: Callable[[], T] | None = work
        self._may_start = may_go_on
        self._costly_budget = costly
        self._hears = progress.listener()
        self._changed = threading.Condition()
        self._committed = self._cancelled = False
        self._phase: PhaseEntered | None = None
        self._troubles: list[TroubleMet] = []

    def run(self) -> None:
        """Do the work in the current thread and store its result or exception in `outcome`."""
        work, self._work = self._work, None
        assert work is not None, "a speculative task runs once"
        try:
            with progress.listening(self._listen), cancellable(self._is_wanted):
                check_cancelled()
                value = work()
        except BaseException as error:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(value)

    def value(self) -> T:
        """Return the value for another task that depends on it. Raises CallCancelled when either was cancelled."""
        if self.outcome.exception() is not None:
            raise CallCancelled
        check_cancelled()
        return self.outcome.result()

    def commit(self) -> T:
        """Wait for the value or the error and forward its progress. Raises CallCancelled when it was cancelled."""
        with self._changed:
            self._committed = True
            self._changed.notify_all()
            for trouble in self._troubles:
                self._notify(trouble)
            if self._phase and not self.outcome.done():
                self._notify(self._phase)
        return self.outcome.result()

    def drop(self) -> None:
        """Make no further call."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def _is_wanted(self, call: Call | None) -> bool:
        """Return whether this call may start; a costly call waits first."""
        with self._changed:
            if call and call.costly and self._costly_budget is not None:
                moment = GRACE_SECONDS if self._costly_budget else None
                self._changed.wait_for(lambda: self._committed or self._cancelled, moment)
                self._costly_budget = max(0, self._costly_budget - 1)
            if self._committed or self._cancelled:
                return self._committed
        return self._may_start()

    def _listen(self, event: PhaseEntered | TokensUsed | TroubleMet) -> None:
        """Forward costs at once, everything else once the task is committed."""
        if isinstance(event, TokensUsed):
            return self._notify(event)
        with self._changed:
            if self._committed:
                self._notify(event)
            elif isinstance(event, PhaseEntered):
                self._phase = event
            else:
                self._troubles.append(event)

    def _notify(self, event: PhaseEntered | TokensUsed | TroubleMet) -> None:
        if self._hears is not None:
            self._hears(event)
