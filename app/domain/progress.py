"""Progress reports from modules to a listener in the current context.

The runner listens while a run executes. Without a listener reports are dropped, so modules work without a runner.
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
    """Pass every report made inside the block to `listener`, in order."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener() -> Listener | None:
    """Return the current listener, for work that continues in another thread."""
    return _listener.get()


def entered(phase: str) -> None:
    """Report the current activity, in words for the status line: "reading 8 passages"."""
    if (hears := _listener.get()) is not None:
        hears(PhaseEntered(phase))


def used(usage: Usage) -> None:
    """Report the cost of a finished model call."""
    if (hears := _listener.get()) is not None:
        hears(TokensUsed(usage))


def troubled(message: str) -> None:
    """Report a problem that the run survives, in one sentence for the report."""
    if (hears := _listener.get()) is not None:
        hears(TroubleMet(message))
