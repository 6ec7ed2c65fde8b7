"""Asking a scripted server: an OpenAIChat that waits for nothing, and what it reports while it is asked."""

from __future__ import annotations

from collections.abc import Callable

from app.backends.language_models import ModelSettings
from app.backends.openai_chat import OpenAIChat
from app.backends.openai_retries import Patience
from app.reasoning.events import TokensUsed
from app.reasoning.progress import listening
from app.reasoning.types import Usage
from tests.openai_server import OpenAIServer

KEY = "sk-planted-Zx81"


def chat(server: OpenAIServer | str, *, seconds: float = 10, sleeps: list[float] | None = None, **fields) -> OpenAIChat:
    """A model called tiny; the waits it would have made are appended to `sleeps`."""
    url = server if isinstance(server, str) else server.url
    settings = ModelSettings("Tiny", "tiny", url, KEY, **fields)
    waits: list[float] = [] if sleeps is None else sleeps
    return OpenAIChat(settings, seconds, Patience(sleep=waits.append, jitter=lambda: 1.0))


def used_by(work: Callable[[], object]) -> Usage:
    """The sum of what `work` reports."""
    told: list[Usage] = []
    with listening(lambda event: told.append(event.usage) if isinstance(event, TokensUsed) else None):
        work()
    return sum(told, Usage())
