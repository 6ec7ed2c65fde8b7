"""Reports from modules and back ends to the runner, and replay of stored replies to their calls.

Listener and stores are context variables that the runner sets. Without a listener reports are dropped, and without a
store every call is made, so modules and back ends work without a run.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from app.domain.errors import UnparseableOutput
from app.domain.events import FactChecksFound, PhaseEntered, Reported, TokensUsed, TroubleMet
from app.domain.messages import Message, Text
from app.domain.model import FactCheck, Usage

Listener = Callable[[Reported], None]

_listener: ContextVar[Listener | None] = ContextVar("hopcheck_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Pass every report made inside the block to `listener`, in order."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def current_listener() -> Listener | None:
    """Return the listener of the enclosing block or None, for work that continues in another thread."""
    return _listener.get()


def report_phase(phase: Message) -> None:
    if (current := _listener.get()) is not None:
        current(PhaseEntered(phase))


def report_usage(usage: Usage) -> None:
    """Report the cost of a finished or cached call of a model or a service, after its reply is stored."""
    if (costs := _costs.get()) is not None:
        costs.append(usage)
    elif (current := _listener.get()) is not None:
        current(TokensUsed(usage))


def report_problem(message: Text) -> None:
    """Report a problem that the run survives."""
    if (current := _listener.get()) is not None:
        current(TroubleMet(message))


def report_fact_checks(found: tuple[FactCheck, ...]) -> None:
    if found and (current := _listener.get()) is not None:
        current(FactChecksFound(found))


@dataclass(frozen=True)
class Call:
    """A request to a model or a service, with everything that determines the reply."""

    model: str  # name and version of the model or service
    request: Mapping[str, Any]  # values that JSON can represent
    costly: bool = False  # whether the call costs money or leaves the machine

    @cached_property  # each store uses it at each call
    def key(self) -> str:
        """Return the SHA-256 of the call in hexadecimal; equal requests to equal models have equal keys."""
        written = json.dumps([self.model, self.request], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(written.encode(errors="surrogatepass")).hexdigest()


class ResponseStore(Protocol):
    """Stores replies by call. Replies are JSON values, never None. A store logs its own failures and never raises."""

    def get(self, call: Call) -> Any | None: ...

    def put(self, call: Call, reply: Any) -> None: ...


class MemoryStore:
    """Implements `ResponseStore` in memory."""

    def __init__(self) -> None:
        self._replies: dict[str, Any] = {}

    def get(self, call: Call) -> Any | None:
        return self._replies.get(call.key)

    def put(self, call: Call, reply: Any) -> None:
        self._replies[call.key] = reply


class CallCancelled(BaseException):
    """Raised when a cancelled speculative task (strategies/speculation.py) would start a call or go on after a wait.

    A BaseException, so that ordinary error handling does not catch it.
    """


MayStart = Callable[[Call | None], bool]
"""Returns whether a call may start, possibly after a wait. The argument is None before a task, and within a call."""

_stores: ContextVar[tuple[ResponseStore, ...]] = ContextVar("hopcheck_stores", default=())
_on_call: ContextVar[Callable[[Call, float], None] | None] = ContextVar("hopcheck_on_call", default=None)
_unreadable: ContextVar[set[str] | None] = ContextVar("hopcheck_unreadable", default=None)
_held: ContextVar[dict[str, tuple[Call, Any]] | None] = ContextVar("hopcheck_held", default=None)
_costs: ContextVar[list[Usage] | None] = ContextVar("hopcheck_costs", default=None)
_may_start: ContextVar[MayStart] = ContextVar("hopcheck_may_start", default=lambda call: True)


@contextmanager
def use_stores(*stores: ResponseStore, on_call: Callable[[Call, float], None] | None = None) -> Iterator[None]:
    """Look replies up in `stores`, in this order, inside the block, and put new ones in all of them.

    A call whose reply could not be read is made once in the block. `on_call` gets every call that was made, with its
    duration in seconds, but no failed one.
    """
    tokens = _stores.set(stores), _unreadable.set(set()), _on_call.set(on_call)
    try:
        yield
    finally:
        _stores.reset(tokens[0])
        _unreadable.reset(tokens[1])
        _on_call.reset(tokens[2])


@contextmanager
def _costs_last() -> Iterator[None]:
    """Report costs when the outermost of these blocks ends, so that nothing is stored between a reply and its storage.

    A process that is killed in between would have counted a call that another process must make again.
    """
    if _costs.get() is not None:
        yield
        return
    costs: list[Usage] = []
    token = _costs.set(costs)
    try:
        yield
    finally:
        _costs.reset(token)
        for each in costs:
            report_usage(each)


@contextmanager
def cached_if_readable() -> Iterator[None]:
    """Hold back replies until the block ends, then store them, or hand them to the enclosing such block.

    If the block raises UnparseableOutput none is stored, and within `use_stores` its calls are not made again.
    """
    held: dict[str, tuple[Call, Any]] = {}
    outer = _held.get()
    token = _held.set(held)
    with _costs_last():
        try:
            yield
        except UnparseableOutput:
            if (unreadable := _unreadable.get()) is not None:
                unreadable.update(held)
            held.clear()
            raise
        finally:
            _held.reset(token)
            if outer is not None:
                outer.update(held)
            else:
                for call, reply in held.values():
                    _put(call, reply)


@contextmanager
def cancellable(may_start: MayStart) -> Iterator[None]:
    """Start calls inside the block only while `may_start` and that of every enclosing block allow it."""
    outside = _may_start.get()
    token = _may_start.set(lambda call: outside(call) and may_start(call))
    try:
        yield
    finally:
        _may_start.reset(token)


def check_cancelled(call: Call | None = None) -> None:
    """Raise CallCancelled when the result of the current work is no longer needed."""
    if not _may_start.get()(call):
        raise CallCancelled


def cached_call(call: Call, compute: Callable[[], Any]) -> Any:
    """Return the stored reply to `call`, or compute and store it.

    A stored reply is reported as one cached call without cost. Raises CallCancelled when a new call is no longer
    needed, and UnparseableOutput when the reply to the same call could not be read before.
    """
    stores = _stores.get()
    for at, store in enumerate(stores):
        reply = store.get(call)
        if reply is not None:
            for nearer in stores[:at]:
                nearer.put(call, reply)
            report_usage(Usage(cached=1))
            return reply
    if call.key in (_unreadable.get() or ()):
        raise UnparseableOutput("The model's reply to the same request could not be read, so it is not asked again.")
    held = _held.get()
    if held is not None and call.key in held:
        report_usage(Usage(cached=1))
        return held[call.key][1]
    check_cancelled(call)
    with _costs_last():
        started_at = time.monotonic()
        reply = compute()
        if (on_call := _on_call.get()) is not None:
            on_call(call, time.monotonic() - started_at)
        if held is None:
            _put(call, reply)
        else:
            held[call.key] = (call, reply)
    return reply


def _put(call: Call, reply: Any) -> None:
    for store in _stores.get():
        store.put(call, reply)
