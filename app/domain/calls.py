"""Calls that need not be made twice: a back end says what it is about to compute, whoever listens may know the reply.

A run's journal remembers every call of the run until it ends, so that taking the run over repeats none; the site's
cache remembers costly calls for everybody. Back ends know neither: they hand their work to `remembered`. With nobody
remembering, every call is made, so a back end needs no run to be tried or tested.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from app.domain.model import Usage
from app.domain.progress import used


@dataclass(frozen=True)
class Call:
    """One whole request: everything that decides the reply, as values that JSON can write.

    `model` names what replies, with its version; `costly` marks calls that cost money or leave the machine.
    """

    model: str
    request: Mapping[str, Any]
    costly: bool = False

    @cached_property  # every memory asks for it, at every call
    def key(self) -> str:
        """64 hexadecimal digits; equal requests to equal models have equal keys."""
        written = json.dumps([self.model, self.request], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(written.encode(errors="surrogatepass")).hexdigest()


class Memory(Protocol):
    """Replies by call. Replies are values that JSON can write, never None; a memory that fails forgets and says so."""

    def recall(self, call: Call) -> Any | None: ...

    def keep(self, call: Call, reply: Any) -> None: ...


class NotWanted(BaseException):
    """A call was not begun, for nobody wants its reply any more. It is no failure, so whoever handles those lets it by.

    Only work that is ahead of its turn meets it (ahead.py).
    """


Wanted = Callable[[Call | None], bool]
"""Asked before a call is made, which it may hold up; None before work that is no call."""

_memories: ContextVar[tuple[Memory, ...]] = ContextVar("hopcheck_memories", default=())
_wanted: ContextVar[Wanted] = ContextVar("hopcheck_wanted", default=lambda call: True)


@contextmanager
def remembering(*memories: Memory) -> Iterator[None]:
    """Inside the block, look replies up in `memories`, in this order, and keep new ones in all of them."""
    token = _memories.set(memories)
    try:
        yield
    finally:
        _memories.reset(token)


@contextmanager
def only_while(wanted: Wanted) -> Iterator[None]:
    """Inside the block, begin calls only while `wanted` says so, and whoever began the block is wanted, too."""
    outside = _wanted.get()
    token = _wanted.set(lambda call: outside(call) and wanted(call))
    try:
        yield
    finally:
        _wanted.reset(token)


def insist_wanted(call: Call | None = None) -> None:
    """Raise NotWanted where nobody wants what would be computed now."""
    if not _wanted.get()(call):
        raise NotWanted


def remembered(call: Call, compute: Callable[[], Any]) -> Any:
    """The reply to `call`: one that was kept, or that of `compute`, which is kept unless it raises.

    What was recalled is reported as one cached call, which costs nothing. Raises NotWanted in place of a call that
    nobody wants any more.
    """
    memories = _memories.get()
    for at, memory in enumerate(memories):
        reply = memory.recall(call)
        if reply is not None:
            for nearer in memories[:at]:
                nearer.keep(call, reply)
            used(Usage(cached=1))
            return reply
    insist_wanted(call)
    reply = compute()
    for memory in memories:
        memory.keep(call, reply)
    return reply
