"""FIFO queue for local model inference, so that models do not compete for the CPU cores, and models loaded in it."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import report_phase
from app.domain.messages import Code

T = TypeVar("T")

OMP_WAIT_POLICY = "passive"
"""OpenMP's wait policy, set before OpenMP is loaded: waiting threads must not occupy cores that others need."""

LOAD_SECONDS = 600.0
"""Time limit for loading a model."""

MIN_WAIT_SECONDS = 0.05
"""Minimum wait before a call checks its deadline again: while a model loads, its remaining time does not shrink."""

SHUTDOWN_SECONDS = 2.0
"""Time to wait at exit for running calls: interrupting PyTorch can abort the process."""


class Inference:
    """Runs calls one after the other in a worker thread, which starts when first needed, so after any fork.

    Calls run without their caller's context variables: the caller reports phase and usage. A call made inside another
    call runs at once in the same thread.
    """

    def __init__(self, call_seconds: float | None = None, what: str = "A call of a model") -> None:
        """`call_seconds` limits each call, waiting included; None sets no limit. Loading has a limit of its own.

        `what` names a call in error messages.
        """
        self._call_seconds = float("inf") if call_seconds is None else call_seconds
        self._what = what
        os.environ.setdefault("OMP_WAIT_POLICY", OMP_WAIT_POLICY)
        self._reset()
        _instances.add(self)

    def _reset(self) -> None:
        """Reset the state after a fork: the child has no threads, and a lock may have been held."""
        self._changed = threading.Condition()
        self._waiting: deque[_QueuedCall] = deque()
        self._worker: threading.Thread | None = None
        self._stopping = False
        self._load_seconds = 0.0
        self._loading_since: float | None = None

    def run(self, work: Callable[[], T]) -> T:
        """Return the value of `work`, or raise its error. Raises CallFailed after `call_seconds`.

        A call that timed out before its start never runs; one that has started still occupies the worker. Time spent
        loading models does not count.
        """
        return self._submit(_QueuedCall(work, self._what, self._call_seconds))

    def load(self, work: Callable[[], T]) -> T:
        """Run work that loads a model, as `run` does but limited by LOAD_SECONDS."""
        return self._submit(_QueuedCall(work, "Loading a model", LOAD_SECONDS, is_load=True))

    def _submit(self, call: _QueuedCall) -> Any:
        if threading.current_thread() is self._worker:
            self._execute(call)
            return call.result()
        with self._changed:
            if self._stopping:
                raise CallFailed("The process is ending and calls no model any more.")
            call.queued_at = self._clock(call)
            self._waiting.append(call)
            if self._worker is None:
                self._worker = threading.Thread(target=self._run_calls, name="inference", daemon=True)
                self._worker.start()
            self._changed.notify_all()
            while not call.done and (remaining := call.queued_at + call.seconds - self._clock(call)) > 0:
                self._changed.wait(min(max(remaining, MIN_WAIT_SECONDS), threading.TIMEOUT_MAX))
            call.abandoned = not call.done
        return call.result()

    def _clock(self, call: _QueuedCall) -> float:
        """Return the call's monotonic time, which is paused while a model loads, except for the load itself."""
        now = time.monotonic()
        if call.is_load:
            return now
        loading = min(now - self._loading_since, LOAD_SECONDS) if self._loading_since is not None else 0.0
        return now - self._load_seconds - loading

    def _run_calls(self) -> None:
        while (call := self._next_call()) is not None:
            self._execute(call)
            with self._changed:
                call.done = True
                self._changed.notify_all()
            del call  # the result may be large, and the next call may come hours later

    def _next_call(self) -> _QueuedCall | None:
        """Wait for the next call that is still wanted; return None at shutdown."""
        with self._changed:
            while not self._stopping:
                while self._waiting:
                    call = self._waiting.popleft()
                    if not call.abandoned:
                        call.started = True
                        return call
                self._changed.wait()
        return None

    def _execute(self, call: _QueuedCall) -> None:
        """Run the call; if it loads a model, pause the clock of other calls, unless an outer load has paused it."""
        if not call.is_load or self._loading_since is not None:
            call.execute()
            return
        self._loading_since = began = time.monotonic()
        call.execute()
        with self._changed:
            self._load_seconds += min(time.monotonic() - began, LOAD_SECONDS)
            self._loading_since = None

    def _stop(self) -> None:
        """Start no more calls, and wait briefly for the running one."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._worker and self._worker is not threading.current_thread():
            self._worker.join(SHUTDOWN_SECONDS)


class _QueuedCall:
    def __init__(self, work: Callable[[], Any], what: str, seconds: float, is_load: bool = False) -> None:
        self.work, self.what, self.seconds, self.is_load = work, what, seconds, is_load
        self.queued_at = 0.0
        self.started = self.done = self.abandoned = False
        self._value: Any = None
        self._error: BaseException | None = None

    def execute(self) -> None:
        try:
            self._value = self.work()
        except BaseException as error:  # raised in the caller; the worker thread continues
            self._error = error

    def result(self) -> Any:
        """Return the value, raise the work's error, or raise CallFailed after a timeout."""
        try:
            if self.abandoned and self.started:
                raise CallFailed(f"{self.what} was not done after {self.seconds:g} seconds and was given up.")
            if self.abandoned:
                raise CallFailed(f"{self.what} waited {self.seconds:g} seconds for its turn and was given up.")
            if self._error is not None:
                raise self._error
            return self._value
        finally:
            self._error = None  # breaks the reference cycle of an error and its traceback's frames


_instances: weakref.WeakSet[Inference] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for each in list(_instances):
        each._stop()


def _reset_all() -> None:
    for each in list(_instances):
        each._reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)


class LazyModel(Generic[T]):
    """A model that is loaded once, at its first use, in the inference queue. A failed load is retried."""

    def __init__(self, inference: Inference, read: Callable[[], T], name: str = "") -> None:
        """`read` returns the model, never None. With a `name`, loading is shown as a phase."""
        self._inference, self._read, self._name = inference, read, name
        self._model: T | None = None

    def __call__(self) -> T:
        """Return the model.

        Raises what `read` raises, ModelUnavailable for an ImportError, CallFailed when it takes over LOAD_SECONDS.
        """
        if self._model is not None:
            return self._model
        if self._name:
            report_phase(Code.LOADING(what=self._name))
        return self._inference.load(self._load_once)

    def _load_once(self) -> T:
        if self._model is None:
            try:
                self._model = self._read()
            except ImportError as error:
                raise ModelUnavailable(f"A library cannot be imported ({error})", "make install") from error
        return self._model
