"""How a module says what it is doing without knowing who listens.

The runner listens around a run, in the thread (or the copied context) that runs it; a module calls `entered`,
`used`. With nobody listening both do nothing, so modules need no runner to be tried or tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from app.domain.events import PhaseEntered, TokensUsed, TroubleMet
from app.domain.model import Usage

Listener = Callable[[PhaseEntered | TokensUsed | TroubleMet], None]

_listener: ContextVar[Listener | None] = ContextVar("hopcheck_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hand every phase and usage reported inside the block to `listener`, in order."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener() -> Listener | None:
    """Who listens here, for work that goes on in another thread."""
    return _listener.get()


def entered(phase: str) -> None:
    """Say what is being done now, in words for the status line: "reading 8 passages"."""
    if (hears := _listener.get()) is not None:
        hears(PhaseEntered(phase))


def used(usage: Usage) -> None:
    """Say what a finished model call cost."""
    if (hears := _listener.get()) is not None:
        hears(TokensUsed(usage))


def troubled(message: str) -> None:
    """Say what did not work although the run goes on, in a sentence for the report."""
    if (hears := _listener.get()) is not None:
        hears(TroubleMet(message))
