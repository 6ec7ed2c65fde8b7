"""Bundled models give the same results in parallel as alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.backends.local.inference_queue import Inference
from app.backends.local.judge import EntailmentJudge
from app.backends.local.reader import SpanReader
from app.backends.local.reranker import CrossEncoderReranker
from app.bootstrap import BASE_MODEL
from app.config.settings import ROOT
from app.domain.model import Passage, Question

TEXTS = [
    f"Tower number {number} of {place} was built in {1800 + number} by the harbour's own yard."
    for number, place in enumerate(("Basel", "Chur", "Bern", "Thun", "Olten", "Sion"))
]


def judging(queue: Inference) -> Callable[[str], Any]:
    base, weights = ROOT / "instance" / "models" / BASE_MODEL, ROOT / "app" / "models" / "judge"
    judge = EntailmentJudge(base, weights, inference=queue)
    return lambda text: judge.classify([("The towers of Bern and Thun are older than the war.", [("Towers", text)])])[0]


def reading(queue: Inference) -> Callable[[str], Any]:
    reader = SpanReader(ROOT / "app" / "models" / "reader", 2, queue)
    return lambda text: reader.read(Question("Who built the tower?"), [Passage(text, "Towers", "test")]).score


def ranking(queue: Inference) -> Callable[[str], Any]:
    reranker = CrossEncoderReranker(inference=queue)
    return lambda text: reranker.scores("the oldest tower of Bern", [text])


@pytest.mark.models
@pytest.mark.parametrize("made", [judging, reading, ranking])
def test_a_model_gives_the_same_result_in_parallel_as_alone(made: Callable[[Inference], Callable[[str], Any]]):
    asked = made(Inference(cores=2))
    alone = [asked(text) for text in TEXTS]
    with ThreadPoolExecutor(len(TEXTS)) as visitors:
        at_once = list(visitors.map(asked, TEXTS))
    for one, other in zip(alone, at_once, strict=True):
        assert other == pytest.approx(one, abs=1e-4)
