"""Helpers for language models: clients of a scripted server that do not sleep, whole runs, and llama.cpp's server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from app.backends.http import RetryPolicy
from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import ModelSettings
from app.domain.events import Event, TokensUsed
from app.domain.instrumentation import listening
from app.domain.model import RunOptions, Usage
from app.domain.ports import TextGenerator
from app.domain.report import Report
from tests.one_claim import followed, prompted
from tests.openai_server import OpenAIServer
from tests.small_model import packaged_gguf

KEY = "sk-planted-Zx81"


def chat(server: OpenAIServer | str, *, seconds: float = 10, sleeps: list[float] | None = None, **fields) -> OpenAIChat:
    """Return a client for a model called tiny; the waits between retries are appended to `sleeps`."""
    url = server if isinstance(server, str) else server.url
    settings = ModelSettings("Tiny", "tiny", url, KEY, **fields)
    waits: list[float] = [] if sleeps is None else sleeps
    return OpenAIChat(settings, seconds, RetryPolicy(sleep=waits.append, jitter=lambda: 1.0))


def used_by(work: Callable[[], object]) -> Usage:
    """Return the sum of the usage that `work` reports."""
    usages: list[Usage] = []
    with listening(lambda event: usages.append(event.usage) if isinstance(event, TokensUsed) else None):
        work()
    return sum(usages, Usage())


def run_over(model: TextGenerator, **options: Any) -> tuple[Report, list[Event]]:
    """Run with `model` in every role; return the report and all events."""
    return followed(prompted(model), RunOptions(**options))


@contextmanager
def llama_server() -> Iterator[str]:
    """Yield the address of llama.cpp's own OpenAI-compatible server with SmolLM2, on a free port of this machine."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(packaged_gguf())
    params.verbosity = -1
    params.n_parallel = 1
    params.n_ctx = 4096
    params.cache_ram_mib = 0
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    yield server.listening_address
    del server
