"""Local models return stored replies on a resumed run instead of computing again."""

from __future__ import annotations

from types import SimpleNamespace

import numpy
import pytest

from app.backends.local.inference_queue import Inference
from app.backends.local.llama_cpp import LocalLM
from app.backends.local.reranker import CrossEncoderReranker
from app.backends.local.weight_files import fingerprint
from app.domain.errors import CallFailed
from app.domain.instrumentation import listening, use_stores
from app.domain.model import Passage, Question
from tests.local_files import FILES
from tests.stores import JsonStore

HAMLET = Passage("A play (1600). Hamlet was written by William Shakespeare.", "Hamlet", "test")
BERLIN = Passage("Berlin is the capital of Germany.", "Berlin", "test")
WHO = Question("Who wrote Hamlet?")


class OnlyLoads(Inference):
    """An inference queue that loads models and refuses every call."""

    def run(self, work):
        pytest.fail("A remembered call was made again.")


def asked_twice(make, ask):
    """Return the replies of one back end and of a second one, made after a restart, that may not compute."""
    store, said = JsonStore(), []
    with use_stores(store), listening(said.append):
        first, second = ask(make(Inference())), ask(make(OnlyLoads()))
    assert len(store.replies) == 1
    assert [(event.usage.calls > 0, event.usage.cached) for event in said] == [(True, 0), (False, 1)]
    return first, second


@pytest.mark.models
def test_the_reranker_returns_its_cached_order_and_scores():
    first, second = asked_twice(
        lambda queue: CrossEncoderReranker(threads=1, inference=queue),
        lambda reranker: reranker.rerank(WHO.text, [BERLIN, HAMLET]),
    )
    assert first == second
    assert first[0].title == "Hamlet"


@pytest.mark.slow
@pytest.mark.models
def test_the_local_model_returns_its_cached_text_and_probabilities():
    for ask in (
        lambda model: model.complete("Claim: Paris is in France.\nQuestion:", max_tokens=4),
        lambda model: model.probabilities("Claim: Paris is in France.\nVerdict:", ["true", "false"]),
    ):
        first, second = asked_twice(lambda queue: LocalLM(*FILES, inference=queue), ask)
        assert first == second != ""


def test_a_nan_score_from_the_reranker_fails_the_call():
    session = SimpleNamespace(run=lambda outputs, inputs: [numpy.full((1, 1), numpy.nan)])
    row = SimpleNamespace(ids=[1], attention_mask=[1], type_ids=[0])
    with pytest.raises(CallFailed, match="not numbers"):
        CrossEncoderReranker()._computed(session, [row])


def test_weights_that_differ_at_either_end_or_in_size_have_another_fingerprint(tmp_path):
    weights = tmp_path / "model.safetensors"
    seen = set()
    for content in (b"a" * 3_000_000, b"b" + b"a" * 2_999_999, b"a" * 2_999_999 + b"b", b"a" * 3_000_001, b""):
        weights.write_bytes(content)
        assert fingerprint(weights) == fingerprint(weights)
        seen.add(fingerprint(weights))
    assert len(seen) == 5
