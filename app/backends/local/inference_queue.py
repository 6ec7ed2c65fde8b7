"""FIFO queue for local model inference, so that models do not compete with each other for the CPU cores.

There is one worker thread per core. Calls that allow concurrency share the cores; all others run alone.
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
"""OpenMP's wait policy, set before OpenMP is loaded: spinning threads keep busy the cores that others need."""

LOAD_SECONDS = 600.0
"""Time limit for loading a model."""

MIN_WAIT_SECONDS = 0.05
"""Minimum wait between two looks at the clock, which is paused while a model loads."""

SHUTDOWN_SECONDS = 2.0
"""Time to wait at exit for running calls: interrupting PyTorch can abort the process."""


class Inference:
    """Runs calls in worker threads, in order. Threads start when first needed, so after any fork.

    Calls run without their caller's context variables: the caller reports phase and usage. A nested call runs at once.
    """

    def __init__(self, call_seconds: float | None = None, what: str = "A call of a model", cores: int = 1) -> None:
        """`call_seconds` limits each call, waiting included; None sets no limit. Loading has a limit of its own.

        `what` names a call in error messages. `cores` is the number of worker threads, and of PyTorch's threads in
        all of them together. A call that starts alone keeps all cores to its end.
        """
        self._call_seconds = float("inf") if call_seconds is None else call_seconds
        self._what = what
        self._cores = cores
        os.environ.setdefault("OMP_WAIT_POLICY", OMP_WAIT_POLICY)
        self._begin_anew()
        _all.add(self)

    def _begin_anew(self) -> None:
        """Reset the state after a fork: the child has no threads, and a lock may have been held."""
        self._changed = threading.Condition()
        self._waiting: deque[_Item] = deque()
        self._at_work: list[_Item] = []
        self._lanes: list[threading.Thread] = []
        self._leaving = False
        self._spent_loading = 0.0
        self._loading_since: float | None = None

    def run(self, work: Callable[[], T], alone: bool = True) -> T:
        """Return the value of `work`, or raise its error. Raises CallFailed after `call_seconds`.

        A call that timed out before its start never runs; one that has started still occupies its worker. Time spent
        loading models does not count. Calls with `alone=False` run concurrently with each other.
        """
        return self._ask(_Item(work, self._what, self._call_seconds, alone))

    def load(self, work: Callable[[], T]) -> T:
        """Run work that loads a model, as `run` does but limited by LOAD_SECONDS."""
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
                self._changed.notify_all()  # it may have blocked the calls behind it
        return item.outcome()

    def _now(self, item: _Item) -> float:
        """Return the item's clock, which is paused for calls while a model loads."""
        now = time.monotonic()
        if item.loads:
            return now
        loading = min(now - self._loading_since, LOAD_SECONDS) if self._loading_since is not None else 0.0
        return now - self._spent_loading - loading

    def _ensure_lane(self) -> None:
        """Start a worker thread for waiting calls, up to one per core."""
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
        """Return the first call that is still awaited and its number of cores; None at shutdown."""
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
        """Return the number of cores for a call: all, or an equal share among concurrent calls."""
        company = 0 if item.alone else sum(1 for _ in takewhile(lambda each: not each.alone, self._waiting))
        return max(1, self._cores // min(self._cores, len(self._at_work) + company))

    def _carry_out(self, item: _Item) -> None:
        """Do the work; pause the calls' clock if it loads a model, unless an outer load has paused it."""
        if not item.loads or self._loading_since is not None:
            item.carry_out()
            return
        self._loading_since = began = time.monotonic()
        item.carry_out()
        with self._changed:
            self._spent_loading += min(time.monotonic() - began, LOAD_SECONDS)
            self._loading_since = None

    def _leave(self) -> None:
        """Start no more calls, and wait briefly for the running ones."""
        with self._changed:
            self._leaving = True
            self._changed.notify_all()
            lanes = list(self._lanes)
        until = time.monotonic() + SHUTDOWN_SECONDS
        for lane in lanes:
            if lane is not threading.current_thread():
                lane.join(max(0.0, until - time.monotonic()))


class _Item:
    """A queued call and its result."""

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
        except BaseException as error:  # raised in the caller; the worker thread continues
            self._error = error

    def outcome(self) -> Any:
        """Return the value, raise the work's error, or raise CallFailed after a timeout."""
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
    """Set PyTorch's number of threads for calls from this thread, if PyTorch is loaded."""
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
