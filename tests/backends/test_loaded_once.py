"""Each local model is loaded once under concurrent first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from app.backends.local.llama_cpp import LocalLM
from app.backends.local.reranker import CrossEncoderReranker
from app.backends.local.seq2seq import Seq2Seq
from tests.local_files import FILES
from tests.tiny import tiny_t5

VISITORS = 8


def seen_by_all(load: Callable[[], Any]) -> list[Any]:
    """Return what each of several threads gets when all load the model at the same moment."""
    together = threading.Barrier(VISITORS)

    def visit(_: int) -> Any:
        together.wait()
        return load()

    with ThreadPoolExecutor(VISITORS) as pool:
        return list(pool.map(visit, range(VISITORS)))


def loaded_once(load: Callable[[], Any]) -> bool:
    """Return whether all threads got the same object."""
    first, *others = seen_by_all(load)
    return first is not None and all(each is first for each in others)


def test_a_model_is_loaded_once_under_concurrent_first_use(tmp_path: Path) -> None:
    assert loaded_once(Seq2Seq(str(tiny_t5(tmp_path))).load)


SHIPPED = {
    "the reranker": lambda: CrossEncoderReranker()._model,
    "the local model": lambda: LocalLM(*FILES)._engine,
}


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.parametrize("name", SHIPPED)
def test_bundled_models_are_loaded_once_under_concurrent_first_use(name: str) -> None:
    assert loaded_once(SHIPPED[name]())
