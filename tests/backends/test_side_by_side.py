"""The reranker gives the same results in parallel as alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from app.backends.local.inference_queue import Inference
from app.backends.local.reranker import CrossEncoderReranker

TEXTS = [
    f"Tower number {number} of {place} was built in {1800 + number} by the harbour's own yard."
    for number, place in enumerate(("Basel", "Chur", "Bern", "Thun", "Olten", "Sion"))
]


@pytest.mark.models
def test_the_reranker_gives_the_same_scores_in_parallel_as_alone():
    reranker = CrossEncoderReranker(inference=Inference(cores=2))
    alone = [reranker.scores("the oldest tower of Bern", [text]) for text in TEXTS]
    with ThreadPoolExecutor(len(TEXTS)) as visitors:
        at_once = list(visitors.map(lambda text: reranker.scores("the oldest tower of Bern", [text]), TEXTS))
    for one, other in zip(alone, at_once, strict=True):
        assert other == pytest.approx(one, abs=1e-4)
