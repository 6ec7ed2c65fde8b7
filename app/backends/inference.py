"""One inference queue for the whole process: local models compute in one thread, first come, first served.

Models would otherwise compete for the same cores, and pages with all of them. The thread has everybody's priority: at a
lower one it was left waiting while it held the interpreter's lock, and every page with it (docs/soak.md).
"""

from __future__ import annotations

import atexit
import importlib
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from app.reasoning.errors import CallFailed, ModelUnavailable
from app.reasoning.progress import entered

T = TypeVar("T")

MEND = "make install"

WAITING = "passive"
"""How threads that share one computation wait for each other (OpenMP reads it when it is loaded, hence so early).

Left to itself a thread that waits spins, and keeps the very thread that it waits for from its core: on a busy machine
llama.cpp was 5 times slower on two threads than on one, and is faster on two now (docs/soak.md).
"""

LOAD_SECONDS = 600.0
"""A model that has not loaded by then never will: a hub that hangs, a disk that does not answer."""

SOONEST = 0.05
"""A caller looks at its clock no oftener: near its end, a clock that stands still would keep it busy."""

LEAVE_SECONDS = 2.0
"""How long a process that ends waits for the call at work; PyTorch cut off in the middle can abort the process."""


class Inference:
    """Runs work in its own thread, in the order it was asked for. The thread starts at the first call, after any fork.

    Work runs without its caller's context: it reports no phase and no usage, its caller does. Work that asks for more
    work gets it at once, as a part of itself.
    """

    def __init__(self, call_seconds: float | None = None, what: str = "A call of a model") -> None:
        """`call_seconds` bounds each call, waiting included; None sets no bound. Loading a model has its own.

        `what` names a call where one fails: other guests may have a queue, too.
        """
        self._call_seconds = float("inf") if call_seconds is None else call_seconds
        self._what = what
        os.environ.setdefault("OMP_WAIT_POLICY", WAITING)
        self._begin_anew()
        _all.add(self)

    def _begin_anew(self) -> None:
        """A forked child has none of its parent's threads, and a lock may have been held by one of them."""
        self._changed = threading.Condition()
        self._waiting: deque[_Item] = deque()
        self._thread: threading.Thread | None = None
        self._leaving = False
        self._spent_loading = 0.0
        self._loading_since: float | None = None

    def run(self, work: Callable[[], T]) -> T:
        """The value of `work`, or its error. Raises CallFailed when it was not done `call_seconds` after it was asked.

        Work that had not begun by then never will; work that had is waited for by those behind it. Time in which a
        model was being loaded does not count.
        """
        return self._ask(_Item(work, self._what, self._call_seconds))

    def load(self, work: Callable[[], T]) -> T:
        """As `run`, for work that loads a model; its bound is LOAD_SECONDS."""
        return self._ask(_Item(work, "Loading a model", LOAD_SECONDS, loads=True))

    def _ask(self, item: _Item) -> Any:
        if threading.current_thread() is self._thread:
            self._carry_out(item)
            return item.outcome()
        with self._changed:
            if self._leaving:
                raise CallFailed("The process is ending and calls no model any more.")
            item.asked = self._now(item)
            self._waiting.append(item)
            self._ensure_thread()
            self._changed.notify_all()
            while not item.done and (left := item.asked + item.seconds - self._now(item)) > 0:
                self._changed.wait(min(max(left, SOONEST), threading.TIMEOUT_MAX))
            item.given_up = not item.done
        return item.outcome()

    def _now(self, item: _Item) -> float:
        """Seconds on the item's clock. That of calls stands still while a model is loaded; a load has the real one."""
        now = time.monotonic()
        if item.loads:
            return now
        loading = min(now - self._loading_since, LOAD_SECONDS) if self._loading_since is not None else 0.0
        return now - self._spent_loading - loading

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._serve, name="inference", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        while (item := self._next()) is not None:
            self._carry_out(item)
            with self._changed:
                item.done = True
                self._changed.notify_all()
            del item  # its value may be large, and the next call may be hours away

    def _next(self) -> _Item | None:
        """The first whose caller still waits; None when the process ends."""
        with self._changed:
            while not self._leaving:
                while self._waiting:
                    item = self._waiting.popleft()
                    if not item.given_up:
                        item.begun = True
                        return item
                self._changed.wait()
        return None

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
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(LEAVE_SECONDS)


class Loaded(Generic[T]):
    """A model that is loaded at its first use, once, in the queue. A load that failed is tried anew at the next use."""

    def __init__(
        self, inference: Inference, read: Callable[[], T], name: str = "", libraries: Sequence[str] = ()
    ) -> None:
        """`read` gives the model, never None; it raises ModelUnavailable. A model with a `name` is said to load.

        `libraries` are modules that `read` will import: the caller imports them before the model's turn comes, so
        that the queue computes meanwhile.
        """
        self._inference, self._read, self._name, self._libraries = inference, read, name, libraries
        self._model: T | None = None

    def __call__(self) -> T:
        """The model. Raises what `read` raises, and ModelUnavailable when a library is missing."""
        if self._model is not None:
            return self._model
        if self._name:
            entered(f"loading {self._name}")
        for library in self._libraries:
            _import(library)
        return self._inference.load(self._once)

    def _once(self) -> T:
        if self._model is None:
            self._model = self._read()
        return self._model


def _import(library: str) -> None:
    with _importing:
        try:
            importlib.import_module(library)
        except ImportError as error:
            raise ModelUnavailable(f"The library {library} cannot be imported ({error})", MEND) from error


class _Item:
    """One piece of work and how it went."""

    def __init__(self, work: Callable[[], Any], what: str, seconds: float, loads: bool = False) -> None:
        self.work, self.what, self.seconds, self.loads = work, what, seconds, loads
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


_importing = threading.Lock()
"""One thread imports at a time: two that want transformers at once may get it half made."""

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
