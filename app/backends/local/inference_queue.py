"""FIFO queue for local model inference, so that models do not compete for the CPU cores, and models loaded in it.

There is one worker thread per core. Calls that allow concurrency share the cores; all others run alone.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from itertools import takewhile
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
    """Runs calls in worker threads, in order. Threads start when first needed, so after any fork.

    Calls run without their caller's context variables: the caller reports phase and usage. A call made inside another
    call runs at once in the same thread.
    """

    def __init__(self, call_seconds: float | None = None, what: str = "A call of a model", cores: int = 1) -> None:
        """`call_seconds` limits each call, waiting included; None sets no limit. Loading has a limit of its own.

        `what` names a call in error messages. `cores` is the number of worker threads, and the total number of
        PyTorch threads in them. A call that starts alone keeps all cores until it ends.
        """
        self._call_seconds = float("inf") if call_seconds is None else call_seconds
        self._what = what
        self._cores = cores
        os.environ.setdefault("OMP_WAIT_POLICY", OMP_WAIT_POLICY)
        self._reset()
        _instances.add(self)

    def _reset(self) -> None:
        """Reset the state after a fork: the child has no threads, and a lock may have been held."""
        self._changed = threading.Condition()
        self._waiting: deque[_QueuedCall] = deque()
        self._running: list[_QueuedCall] = []
        self._workers: list[threading.Thread] = []
        self._stopping = False
        self._load_seconds = 0.0
        self._loading_since: float | None = None

    def run(self, work: Callable[[], T], alone: bool = True) -> T:
        """Return the value of `work`, or raise its error. Raises CallFailed after `call_seconds`.

        A call that timed out before its start never runs; one that has started still occupies its worker. Time spent
        loading models does not count. Calls with `alone=False` run concurrently with each other.
        """
        return self._submit(_QueuedCall(work, self._what, self._call_seconds, alone))

    def load(self, work: Callable[[], T]) -> T:
        """Run work that loads a model, as `run` does but limited by LOAD_SECONDS."""
        return self._submit(_QueuedCall(work, "Loading a model", LOAD_SECONDS, is_load=True))

    def _submit(self, call: _QueuedCall) -> Any:
        if threading.current_thread() in self._workers:
            self._execute(call)
            return call.result()
        with self._changed:
            if self._stopping:
                raise CallFailed("The process is ending and calls no model any more.")
            call.queued_at = self._clock(call)
            self._waiting.append(call)
            self._ensure_worker()
            self._changed.notify_all()
            while not call.done and (remaining := call.queued_at + call.seconds - self._clock(call)) > 0:
                self._changed.wait(min(max(remaining, MIN_WAIT_SECONDS), threading.TIMEOUT_MAX))
            call.abandoned = not call.done
            if call.abandoned:
                self._changed.notify_all()  # it may have blocked the calls behind it
        return call.result()

    def _clock(self, call: _QueuedCall) -> float:
        """Return the call's monotonic time, which is paused while a model loads, except for the load itself."""
        now = time.monotonic()
        if call.is_load:
            return now
        loading = min(now - self._loading_since, LOAD_SECONDS) if self._loading_since is not None else 0.0
        return now - self._load_seconds - loading

    def _ensure_worker(self) -> None:
        """Start a worker thread for waiting calls, up to one per core."""
        if len(self._workers) < min(self._cores, len(self._running) + len(self._waiting)):
            worker = threading.Thread(target=self._run_calls, name="inference", daemon=True)
            worker.start()
            self._workers.append(worker)

    def _run_calls(self) -> None:
        while (assigned := self._next_call()) is not None:
            call, threads = assigned
            if self._cores > 1:
                _set_torch_threads(threads)
            self._execute(call)
            with self._changed:
                call.done = True
                self._running.remove(call)
                self._changed.notify_all()
            del call, assigned  # the result may be large, and the next call may come hours later

    def _next_call(self) -> tuple[_QueuedCall, int] | None:
        """Wait for the next call that is still wanted; return it and its number of cores, or None at shutdown."""
        with self._changed:
            while not self._stopping:
                while self._waiting and self._waiting[0].abandoned:
                    self._waiting.popleft()
                if self._waiting and self._has_room_for(self._waiting[0]):
                    call = self._waiting.popleft()
                    call.started = True
                    self._running.append(call)
                    return call, self._cores_for(call)
                self._changed.wait()
        return None

    def _has_room_for(self, call: _QueuedCall) -> bool:
        return not self._running or not (call.alone or any(each.alone for each in self._running))

    def _cores_for(self, call: _QueuedCall) -> int:
        """Return the number of cores for a call that starts.

        It is all, or its share among the running calls and the waiting ones that can start beside it.
        """
        startable = 0 if call.alone else sum(1 for _ in takewhile(lambda each: not each.alone, self._waiting))
        return max(1, self._cores // min(self._cores, len(self._running) + startable))

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
        """Start no more calls, and wait briefly for the running ones."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            workers = list(self._workers)
        until = time.monotonic() + SHUTDOWN_SECONDS
        for worker in workers:
            if worker is not threading.current_thread():
                worker.join(max(0.0, until - time.monotonic()))


class _QueuedCall:
    """A queued call and its result."""

    def __init__(
        self, work: Callable[[], Any], what: str, seconds: float, alone: bool = True, is_load: bool = False
    ) -> None:
        self.work, self.what, self.seconds, self.alone, self.is_load = work, what, seconds, alone, is_load
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
            if self.abandoned:
                raise CallFailed(self._timeout_message())
            if self._error is not None:
                raise self._error
            return self._value
        finally:
            self._error = None  # breaks the reference cycle of an error and its traceback's frames

    def _timeout_message(self) -> str:
        if not self.started:
            return f"{self.what} waited {self.seconds:g} seconds for its turn and was given up."
        return f"{self.what} was not done after {self.seconds:g} seconds and was given up."


def _set_torch_threads(threads: int) -> None:
    """Set PyTorch's number of threads for calls from this thread, if PyTorch is loaded."""
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "set_num_threads"):  # missing while another thread is importing PyTorch
        # The first call in a thread resets its number to the process's initial one, so it must come before the setting.
        torch.get_num_threads()
        torch.set_num_threads(threads)


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


_importing = threading.Lock()
"""Concurrent imports of transformers may see a partially initialised module."""


class LazyModel(Generic[T]):
    """A model that is loaded once, at its first use, in the inference queue. A failed load is retried."""

    def __init__(
        self, inference: Inference, read: Callable[[], T], name: str = "", libraries: Sequence[str] = ()
    ) -> None:
        """`read` returns the model, never None, or raises ModelUnavailable. With a `name`, loading is shown as a phase.

        `libraries` are modules that `read` imports; they are imported before queueing, which keeps the queue free.
        """
        self._inference, self._read, self._name, self._libraries = inference, read, name, libraries
        self._model: T | None = None

    def __call__(self) -> T:
        """Return the model.

        Raises what `read` raises, ModelUnavailable when a library is missing, and CallFailed when loading takes over
        LOAD_SECONDS or the process ends.
        """
        if self._model is not None:
            return self._model
        if self._name:
            report_phase(Code.LOADING(what=self._name))
        for library in self._libraries:
            _import(library)
        return self._inference.load(self._load_once)

    def _load_once(self) -> T:
        if self._model is None:
            self._model = self._read()
        return self._model


def _import(library: str) -> None:
    with _importing:
        try:
            importlib.import_module(library)
        except ImportError as error:
            raise ModelUnavailable(f"The library {library} cannot be imported ({error})", "make install") from error
