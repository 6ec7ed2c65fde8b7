"""One inference queue for the whole process: local models compute in its lanes, first come, first served.

Models would otherwise compete for the same cores, and pages with all of them. There are as many lanes as cores. Work
that bears company computes beside other such work, PyTorch's on its share of the cores, for two calls on one core each
are done sooner than one after the other on two (docs/bench.md); everything else computes alone. The lanes have
everybody's priority: at a lower one they were left waiting while they held the interpreter's lock, and every page with
them (docs/soak.md).
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from typing import Any, TypeVar

from app.domain.errors import CallFailed

T = TypeVar("T")

OMP_WAIT_POLICY = "passive"
"""How threads that share one computation wait for each other (OpenMP reads it when it is loaded, hence so early).

Left to itself a thread that waits spins, and keeps the very thread that it waits for from its core: on a busy machine
llama.cpp was 5 times slower on two threads than on one, and is faster on two now (docs/soak.md).
"""

LOAD_SECONDS = 600.0
"""A model that has not loaded by then never will: a hub that hangs, a disk that does not answer."""

MIN_WAIT_SECONDS = 0.05
"""A caller looks at its clock no oftener: near its end, a clock that stands still would keep it busy."""

SHUTDOWN_SECONDS = 2.0
"""How long a process that ends waits for the call at work; PyTorch cut off in the middle can abort the process."""


class Inference:
    """Runs work in threads of its own, in the order it was asked for. They start when needed, so after any fork.

    Work runs without its caller's context: it reports no phase and no usage, its caller does. Work that asks for more
    work gets it at once, as a part of itself.
    """

    def __init__(self, call_seconds: float | None = None, what: str = "A call of a model", cores: int = 1) -> None:
        """`call_seconds` bounds each call, waiting included; None sets no bound. Loading a model has its own.

        `what` names a call where one fails: other guests may have a queue, too. `cores` is how many lanes there are,
        and how many threads PyTorch gets in all of them together: who begins while nobody else waits has them all and
        keeps them to its end. Other runtimes have the threads that they were loaded with.
        """
        self._call_seconds = float("inf") if call_seconds is None else call_seconds
        self._what = what
        self._cores = cores
        os.environ.setdefault("OMP_WAIT_POLICY", OMP_WAIT_POLICY)
        self._begin_anew()
        _all.add(self)

    def _begin_anew(self) -> None:
        """A forked child has none of its parent's threads, and a lock may have been held by one of them."""
        self._changed = threading.Condition()
        self._waiting: deque[_Item] = deque()
        self._at_work: list[_Item] = []
        self._lanes: list[threading.Thread] = []
        self._leaving = False
        self._spent_loading = 0.0
        self._loading_since: float | None = None

    def run(self, work: Callable[[], T], alone: bool = True) -> T:
        """The value of `work`, or its error. Raises CallFailed when it was not done `call_seconds` after it was asked.

        Work that had not begun by then never will; work that had is waited for by those behind it. Time in which a
        model was being loaded does not count. What need not compute `alone` bears other such work in another lane,
        of the same model, too.
        """
        return self._ask(_Item(work, self._what, self._call_seconds, alone))

    def load(self, work: Callable[[], T]) -> T:
        """As `run`, for work that loads a model; its bound is LOAD_SECONDS."""
        return self._ask(_Item(work, "Loading a model", LOAD_SECONDS, loads=True))

    def _ask(self, item: _Item) -> Any:
        if threading.current_thread() in self._lanes:
            self._carry_out(item)
            return item.outcome()
        with self._changed:
            if self._leaving:
                raise CallFailed("The process is ending and calls no model any more.")
            item.asked = self._now(item)
            self._waiting.append(item)
            self._ensure_lane()
            self._changed.notify_all()
            while not item.done and (left := item.asked + item.seconds - self._now(item)) > 0:
                self._changed.wait(min(max(left, MIN_WAIT_SECONDS), threading.TIMEOUT_MAX))
            item.given_up = not item.done
            if item.given_up:
                self._changed.notify_all()  # it may have stood in the way of those behind it
        return item.outcome()

    def _now(self, item: _Item) -> float:
        """Seconds on the item's clock. That of calls stands still while a model is loaded; a load has the real one."""
        now = time.monotonic()
        if item.loads:
            return now
        loading = min(now - self._loading_since, LOAD_SECONDS) if self._loading_since is not None else 0.0
        return now - self._spent_loading - loading

    def _ensure_lane(self) -> None:
        """A thread for who waits, while there are fewer than cores."""
        if len(self._lanes) < min(self._cores, len(self._at_work) + len(self._waiting)):
            lane = threading.Thread(target=self._serve, name="inference", daemon=True)
            lane.start()
            self._lanes.append(lane)

    def _serve(self) -> None:
        while (taken := self._next()) is not None:
            item, threads = taken
            if self._cores > 1:
                _use(threads)
            self._carry_out(item)
            with self._changed:
                item.done = True
                self._at_work.remove(item)
                self._changed.notify_all()
            del item, taken  # its value may be large, and the next call may be hours away

    def _next(self) -> tuple[_Item, int] | None:
        """The first whose caller still waits, and the cores that it gets; None when the process ends."""
        with self._changed:
            while not self._leaving:
                while self._waiting and self._waiting[0].given_up:
                    self._waiting.popleft()
                if self._waiting and self._has_room_for(self._waiting[0]):
                    item = self._waiting.popleft()
                    item.begun = True
                    self._at_work.append(item)
                    return item, self._share(item)
                self._changed.wait()
        return None

    def _has_room_for(self, item: _Item) -> bool:
        return not self._at_work or not (item.alone or any(each.alone for each in self._at_work))

    def _share(self, item: _Item) -> int:
        """What a lane gets of the cores: all of them, or as much as all who can compute beside it."""
        company = 0 if item.alone else sum(1 for _ in takewhile(lambda each: not each.alone, self._waiting))
        return max(1, self._cores // min(self._cores, len(self._at_work) + company))

    def _carry_out(self, item: _Item) -> None:
        """Do the work, and stop the calls' clock meanwhile if it loads a model (inside another load it stands)."""
        if not item.loads or self._loading_since is not None:
            item.carry_out()
            return
        self._loading_since = began = time.monotonic()
        item.carry_out()
        with self._changed:
            self._spent_loading += min(time.monotonic() - began, LOAD_SECONDS)
            self._loading_since = None

    def _leave(self) -> None:
        """Take nothing more, and wait a little for the call at work."""
        with self._changed:
            self._leaving = True
            self._changed.notify_all()
            lanes = list(self._lanes)
        until = time.monotonic() + SHUTDOWN_SECONDS
        for lane in lanes:
            if lane is not threading.current_thread():
                lane.join(max(0.0, until - time.monotonic()))


class _Item:
    """One piece of work and how it went."""

    def __init__(
        self, work: Callable[[], Any], what: str, seconds: float, alone: bool = True, loads: bool = False
    ) -> None:
        self.work, self.what, self.seconds, self.alone, self.loads = work, what, seconds, alone, loads
        self.asked = 0.0
        self.begun = self.done = self.given_up = False
        self._value: Any = None
        self._error: BaseException | None = None

    def carry_out(self) -> None:
        try:
            self._value = self.work()
        except BaseException as error:  # whatever it is, it is the caller's; the thread goes on
            self._error = error

    def outcome(self) -> Any:
        """The value, the work's own error, or CallFailed for who gave up."""
        try:
            if self.given_up:
                raise CallFailed(self._too_long())
            if self._error is not None:
                raise self._error
            return self._value
        finally:
            self._error = None  # an error holds the frames that hold it

    def _too_long(self) -> str:
        if not self.begun:
            return f"{self.what} waited {self.seconds:g} seconds for its turn and was given up."
        return f"{self.what} was not done after {self.seconds:g} seconds and was given up."


def _use(threads: int) -> None:
    """Let PyTorch compute on so many threads in this thread, where it is loaded."""
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "set_num_threads"):  # not while another thread is in the middle of importing it
        torch.get_num_threads()  # in a new thread this sets what the process began with: before what counts here
        torch.set_num_threads(threads)


_all: weakref.WeakSet[Inference] = weakref.WeakSet()


@atexit.register
def _leave_all() -> None:
    for each in list(_all):
        each._leave()


def _all_begin_anew() -> None:
    for each in list(_all):
        each._begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_all_begin_anew)
