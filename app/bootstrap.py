"""Prepare an installation once (obtain the base model, index the corpora) and check it before a server starts.

Steps are atomic, and steps already done are skipped, so the preparation can be interrupted and repeated.

    flask --app app prepare        performs the missing steps, and migrates the database
    python -m app.bootstrap        exits 0 when no step is missing and the database is up to date
"""

from __future__ import annotations

import errno
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.backends.corpus.bm25 import Java
from app.backends.corpus.registry import CORPORA, Corpus, build_built_in, folder_of, is_current
from app.backends.local.base_model import BASE, LOCAL_MODELS, ModelFile, is_obtained, obtain
from app.capabilities.options import default_corpora
from app.config.settings import Settings, load_settings
from app.domain.errors import ModelUnavailable, SettingsError

Writer = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PreparationStep:
    title: str
    is_done: Callable[[], bool]
    make: Callable[[Writer], object]


def steps(settings: Settings) -> tuple[PreparationStep, ...]:
    """Return the steps that obtain the base models and index each built-in corpus searched by default."""
    built_in = [CORPORA[name] for name in default_corpora(settings) if name in CORPORA]
    bases = (base_model(settings, each.base) for each in LOCAL_MODELS.values())
    return *bases, *(corpus_index(settings, corpus) for corpus in built_in)


def base_model(settings: Settings, file: ModelFile = BASE) -> PreparationStep:
    """Return the step that obtains a local model's base. Where no source has it, the site runs without it."""

    def make(say: Writer) -> None:
        try:
            obtain(settings, say, file)
        except ModelUnavailable as error:
            say(f"{error}. Until then, checks need a language model of another kind.")

    title = f"Obtain {file.title} (licence {file.licence}, {file.bytes / 1e9:.1f} GB)"
    return PreparationStep(title, lambda: is_obtained(settings, file), make)


def corpus_index(settings: Settings, corpus: Corpus) -> PreparationStep:
    target = folder_of(settings.instance, corpus.name)
    java = Java(settings.java_home, settings.java_memory)
    return PreparationStep(
        f"Index the corpus {corpus.name} (about a quarter of a minute)",
        lambda: is_current(corpus, target),
        lambda say: build_built_in(corpus, target, java, say),
    )


def prepare(todo: Iterable[PreparationStep], say: Writer, redo: bool = False) -> None:
    """Perform the steps that are not done, or all of them with `redo`. Raises what a step raises."""
    todo = list(todo)
    for number, step in enumerate(todo, 1):
        if step.is_done() and not redo:
            say(f"[{number}/{len(todo)}] {step.title}: already done")
            continue
        say(f"[{number}/{len(todo)}] {step.title} ...")
        started = time.monotonic()
        step.make(lambda line: say(f"      {line}"))
        say(f"      done in {time.monotonic() - started:.0f} s")


# Checks before a server starts, which report a problem in one line instead of a traceback.

_INHERITED_SOCKET = ("GUNICORN_PID", "LISTEN_FDS")
"""Environment variables that announce an open socket, from gunicorn during an upgrade and from systemd."""


def startup_problem(settings: Settings) -> str | None:
    """Return the first problem that prevents a start, with its fix, or None."""
    try:
        settings.signing_key()
    except SettingsError as error:
        return f"{error}."
    if any(name in os.environ for name in _INHERITED_SOCKET):
        return None
    return port_problem(settings.host, settings.port)


def port_problem(host: str, port: int) -> str | None:
    """Return why no server can listen on this address, or None."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        return f"HOST={host} is no address. Set HOST to one of this machine, such as 127.0.0.1."
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            probe.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                other = f"make run PORT={port + 1}"
                return f"Port {port} of {host} is taken. Stop what listens there, or choose another: {other}"
            if error.errno == errno.EACCES:
                return f"Port {port} may not be used by this user. Choose one from 1024 up: make run PORT=8000"
            return f"HOST={host} is no address of this machine. Set HOST to one that is, such as 127.0.0.1."
    return None


def main() -> int:
    """Return 0 if nothing is missing or outdated, else 1.

    Does not import Flask: `make run` waits for this check at every start.
    """
    from app.runs.schema_version import is_newest

    settings = load_settings()
    return int(not (all(step.is_done() for step in steps(settings)) and is_newest(settings.database_url)))


if __name__ == "__main__":
    sys.exit(main())
