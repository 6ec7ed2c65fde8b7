"""Run work that is probably needed next in parallel with the current work.

    with Speculation(is_on=True) as speculation:
        speculation.start("next question", ask)          # starts a thread
        ...
        question = speculation.result("next question", ask)

`result` returns what a direct call would return, or raises its error. A cancelled task makes no further calls and its
errors are discarded. The cost of every call is reported at once and counts towards all limits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any, Generic, Self, TypeVar

from app.domain.events import Event, PhaseEntered, Reported, TokensUsed
from app.domain.instrumentation import Call, CallCancelled, cancellable, check_cancelled, current_listener, listening
from app.domain.ports import Control, RunCommand
from app.strategies.hop_loop import must_finish_now

T = TypeVar("T")

DRAIN_SECONDS = 2.0
"""Maximum wait for the calls of cancelled tasks before the run's total cost is computed."""

GRACE_SECONDS = 0.05
"""Delay before a costly speculative call: the result of a parallel call may make it unnecessary."""


class Speculation:
    """The speculative tasks of a run or of one answer, by key.

    Callers start no task where `is_on` is False; `result` then makes every call directly.
    """

    def __init__(self, is_on: bool = True, control: Control | None = None) -> None:
        """Until its result is needed, a task makes calls only while `control` says CONTINUE.

        Tasks inherit the current context: listener and stores.
        """
        self.is_on = is_on
        self._control = control
        self._context = copy_context()
        self._tasks: dict[Hashable, SpeculativeTask[Any]] = {}
        self._cancelled: list[SpeculativeTask[Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.cancel()

    def start(self, key: Hashable, work: Callable[[], T], max_costly_calls: int | None = None) -> SpeculativeTask[T]:
        """Start `work` in a thread, unless a task of this key exists.

        With `max_costly_calls`, each costly call waits GRACE_SECONDS first, and a call above the maximum waits until
        `result` is called. None sets no maximum and no delay.
        """
        if key not in self._tasks:
            task = self._tasks[key] = SpeculativeTask(self._control, max_costly_calls)
            # No ThreadPoolExecutor: the interpreter joins its threads at exit, and a model call that takes minutes
            # must not delay a shutdown.
            run = self._context.copy().run
            threading.Thread(target=run, args=(task.run, work), name="speculation", daemon=True).start()
        return self._tasks[key]

    def result(self, key: Hashable, work: Callable[[], T]) -> T:
        """Return the result of the task of `key`, waiting for it; call `work` if there is none or it was cancelled."""
        task = self._tasks.pop(key, None)
        if task is not None:
            try:
                return task.commit()
            except CallCancelled:
                pass
        return work()

    def cancel(self) -> None:
        """Cancel all tasks without waiting."""
        self._cancelled += self._tasks.values()
        for each in self._tasks.values():
            each.cancel()
        self._tasks.clear()

    def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Wait up to `seconds` until cancelled tasks have reported their cost; not if the run must end at once."""
        if not must_finish_now(self._control):
            wait([each.outcome for each in self._cancelled], seconds)

    def after_draining(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            self.drain()
            yield event


class SpeculativeTask(Generic[T]):
    """One piece of work in a thread, until its result is needed (`commit`) or not (`cancel`)."""

    def __init__(self, control: Control | None, max_costly_calls: int | None) -> None:
        self.outcome: Future[T] = Future()
        self._control = control
        self._costly_calls_left = max_costly_calls
        self._listener = current_listener()
        self._changed = threading.Condition()
        self._committed = self._cancelled = False
        self._phase: PhaseEntered | None = None
        self._held: list[Reported] = []

    def run(self, work: Callable[[], T]) -> None:
        """Do the work in the current thread and store its result or exception in `outcome`."""
        try:
            with listening(self._listen), cancellable(self._may_call):
                check_cancelled()
                value = work()
        except BaseException as error:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(value)

    def value(self) -> T:
        """Return the result to another task that depends on it, waiting for it.

        Raises CallCancelled if this task failed or was cancelled, or if the waiting one was cancelled.
        """
        if self.outcome.exception() is not None:
            raise CallCancelled
        check_cancelled()
        return self.outcome.result()

    def commit(self) -> T:
        """Return the result, waiting for it, and forward the task's progress. Raises CallCancelled if cancelled."""
        with self._changed:
            self._committed = True
            self._changed.notify_all()
            for event in self._held:
                self._notify(event)
            if self._phase and not self.outcome.done():
                self._notify(self._phase)
        return self.outcome.result()

    def cancel(self) -> None:
        """Make no further call."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def _may_call(self, call: Call | None) -> bool:
        with self._changed:
            if call and call.costly and self._costly_calls_left is not None:
                timeout = GRACE_SECONDS if self._costly_calls_left else None
                self._changed.wait_for(lambda: self._committed or self._cancelled, timeout)
                self._costly_calls_left = max(0, self._costly_calls_left - 1)
            if self._committed or self._cancelled:
                return self._committed
        return self._control is None or self._control.command() is RunCommand.CONTINUE

    def _listen(self, event: Reported) -> None:
        """Forward costs at once, everything else once the task is committed."""
        if isinstance(event, TokensUsed):
            return self._notify(event)
        with self._changed:
            if self._committed:
                self._notify(event)
            elif isinstance(event, PhaseEntered):
                self._phase = event
            else:
                self._held.append(event)

    def _notify(self, event: Reported) -> None:
        if self._listener is not None:
            self._listener(event)
