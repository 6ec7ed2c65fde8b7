"""FIFO queue for local model inference, so that models do not compete for the CPU cores, and models loaded in it."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from app.config import make
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
        self._lock = threading.Lock()
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._worker: threading.Thread | None = None
        self._stopping = False
        self._load_seconds = 0.0
        self._loading_since: float | None = None

    def run(self, work: Callable[[], T]) -> T:
        """Return the value of `work`, or raise its error. Raises CallFailed after `call_seconds`.

        A call that timed out before its start never runs; one that has started still occupies the worker. Time spent
        loading models does not count.
        """
        return self._submit(work, self._what, self._call_seconds, self._clock)

    def load(self, work: Callable[[], T]) -> T:
        """Run work that loads a model, as `run` does but limited by LOAD_SECONDS."""
        return self._submit(partial(self._load, work), "Loading a model", LOAD_SECONDS, time.monotonic)

    def _submit(self, work: Callable[[], T], what: str, seconds: float, clock: Callable[[], float]) -> T:
        if threading.current_thread() is self._worker:
            return work()
        call: Future[T] = Future()
        with self._lock:
            if self._stopping:
                raise CallFailed("The process is ending and calls no model any more.")
            self._waiting.put((call, work))
            if self._worker is None:
                self._worker = threading.Thread(target=self._run_calls, name="inference", daemon=True)
                self._worker.start()
        end = clock() + seconds
        try:
            while not call.done() and (left := end - clock()) > 0:
                wait([call], min(max(left, MIN_WAIT_SECONDS), threading.TIMEOUT_MAX))
            if call.cancel():
                raise CallFailed(f"{what} waited {seconds:g} seconds for its turn and was given up.")
            if not call.done():
                raise CallFailed(f"{what} was not done after {seconds:g} seconds and was given up.")
            return call.result()
        finally:
            del call  # breaks the reference cycle of an error and its traceback's frames

    def _clock(self) -> float:
        """Return a monotonic time that is paused while a model loads."""
        with self._lock:
            now = time.monotonic()
            loading = min(now - self._loading_since, LOAD_SECONDS) if self._loading_since is not None else 0.0
            return now - self._load_seconds - loading

    def _run_calls(self) -> None:
        while (waiting := self._waiting.get()) and not self._stopping:
            call, work = waiting
            if call.set_running_or_notify_cancel():
                try:
                    call.set_result(work())
                except BaseException as error:  # raised in the caller; the worker thread continues
                    call.set_exception(error)
            del call, work, waiting  # the result may be large, and the next call may come hours later

    def _load(self, work: Callable[[], T]) -> T:
        """Do the work, with the clock of other calls paused unless an outer load has paused it."""
        if self._loading_since is not None:
            return work()
        self._loading_since = began = time.monotonic()
        try:
            return work()
        finally:
            with self._lock:
                self._load_seconds += min(time.monotonic() - began, LOAD_SECONDS)
                self._loading_since = None

    def _stop(self) -> None:
        """Start no more calls, and wait briefly for the running one."""
        with self._lock:
            self._stopping = True
        self._waiting.put(None)
        if self._worker and self._worker is not threading.current_thread():
            self._worker.join(SHUTDOWN_SECONDS)


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
                raise ModelUnavailable(f"A library cannot be imported ({error})", make("install")) from error
        return self._model
