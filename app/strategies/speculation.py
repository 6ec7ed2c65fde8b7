"""Head starts: what will probably be needed next is begun before that is sure, side by side with what is under way.

    with Ahead(on=True) as ahead:
        ahead.begin("next question", ask)          # in a thread of its own
        ...                                        # meanwhile
        question = ahead.take("next question", ask)

What is taken is what the same call would have brought in its turn: its value, its error, and from then on its phases.
What is never taken is never seen. It begins no further call once it is dropped, and its errors are nobody's; but what
it cost is reported at once, so limits bind it like everything else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any, Generic, Self, TypeVar

from app.domain import progress
from app.domain.calls import Call, CallCancelled, cancellable, check_cancelled
from app.domain.events import Event, PhaseEntered, TokensUsed, TroubleMet
from app.domain.ports import Control, RunCommand

T = TypeVar("T")

DRAIN_SECONDS = 2.0
"""So long at most are calls waited for that nobody wants, so that the run's own sum has what they cost."""

GRACE_SECONDS = 0.05
"""Seconds. What was asked together mostly comes back together, and then it is known whether more is needed."""


class Ahead:
    """The head starts of one piece of work: a run, or one answer of it. `on` says whether there are any."""

    def __init__(self, on: bool = True, control: Control | None = None) -> None:
        """Work begins only while `control` wants nothing but to go on. Whoever listens and remembers here does so for
        the work as well.
        """
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
        """Do `work` now, for whoever takes `key`. What was begun under this key before stands.

        With a bound of so many `costly` calls it thinks twice before it spends: each waits a moment, in which it may be
        dropped, and one too many until the work is taken. None sets no bound.
        """
        if key not in self._begun:
            self._begun[key] = SpeculativeTask(work, self._may_start, costly)
            # No pool: the threads of the standard library's are joined when the interpreter ends, and a model call
            # that takes minutes must not hold a shutdown up.
            run = self._home.copy().run
            threading.Thread(target=run, args=(self._begun[key].run,), name="ahead", daemon=True).start()
        return self._begun[key]

    def take(self, key: Hashable, work: Callable[[], T]) -> T:
        """What was begun under `key`, waited for; `work` done now where nothing was, or where it did not go on."""
        begun = self._begun.pop(key, None)
        if begun is not None:
            try:
                return begun.commit()
            except CallCancelled:
                pass
        return work()

    def drop(self) -> None:
        """Nothing that was begun is wanted any more. Waits for nothing."""
        self._cancelled += self._begun.values()
        for each in self._begun.values():
            each.drop()
        self._begun.clear()

    def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Wait, not for long, until what was dropped has told what it cost; not at all where the run is in a hurry."""
        if self._control is None or self._control.command() not in (RunCommand.STOP, RunCommand.FINISH_NOW):
            wait([each.outcome for each in self._cancelled], seconds)

    def drained(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same events, each once it has settled."""
        for event in events:
            self.drain()
            yield event

    def _may_start(self) -> bool:
        return self._control is None or self._control.command() is RunCommand.CONTINUE


class SpeculativeTask(Generic[T]):
    """One piece of work that is ahead of its turn, until it is adopted or dropped."""

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
        """Do the work, in the thread that is to do it; what it raises is for whoever adopts it."""
        work, self._work = self._work, None
        assert work is not None, "a head start is carried out once"
        try:
            with progress.listening(self._listen), cancellable(self._is_wanted):
                check_cancelled()
                value = work()
        except BaseException as error:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(value)

    def value(self) -> T:
        """The value, for another head start that goes on from it. Raises NotWanted where either leads nowhere."""
        if self.outcome.exception() is not None:
            raise CallCancelled
        check_cancelled()
        return self.outcome.result()

    def commit(self) -> T:
        """The value or the error, waited for, and whatever it has to say; NotWanted where it did not go on."""
        with self._changed:
            self._committed = True
            self._changed.notify_all()
            for trouble in self._troubles:
                self._notify(trouble)
            if self._phase and not self.outcome.done():
                self._notify(self._phase)
        return self.outcome.result()

    def drop(self) -> None:
        """Begin no further call."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def _is_wanted(self, call: Call | None) -> bool:
        """Whether to go on with this call; waits where it is one of few that may be made ahead, or one too many."""
        with self._changed:
            if call and call.costly and self._costly_budget is not None:
                moment = GRACE_SECONDS if self._costly_budget else None
                self._changed.wait_for(lambda: self._committed or self._cancelled, moment)
                self._costly_budget = max(0, self._costly_budget - 1)
            if self._committed or self._cancelled:
                return self._committed
        return self._may_start()

    def _listen(self, event: PhaseEntered | TokensUsed | TroubleMet) -> None:
        """Costs are told at once; the rest when the work's turn has come."""
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
