"""Local models return stored replies on a resumed run instead of computing again."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy
import pytest

from app.backends.local.inference_queue import Inference
from app.backends.local.judge import EntailmentJudge
from app.backends.local.llama_cpp import LocalLM
from app.backends.local.loading import fingerprint
from app.backends.local.reader import ReaderCalibration, SpanReader
from app.backends.local.reranker import CrossEncoderReranker
from app.bootstrap import BASE_MODEL
from app.config.settings import ROOT
from app.domain.errors import CallFailed
from app.domain.instrumentation import listening, use_stores
from app.domain.model import Passage, Question
from research.training.reader import save
from tests.stores import JsonStore
from tests.tiny import tiny_bert

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


def reader_in(folder, threshold):
    save(*tiny_bert(), folder)
    decision = ReaderCalibration(answerable=1.0, span=0.1, rank=0.0, bias=0.0, threshold=threshold)
    (folder / "decision.json").write_text(json.dumps({key: getattr(decision, key) for key in decision.__slots__}))
    return folder


@pytest.mark.parametrize(("threshold", "answered"), [(0.0, True), (1.01, False)])
def test_the_reader_returns_its_cached_answer_and_span(tmp_path, threshold, answered):
    folder = reader_in(tmp_path, threshold)
    first, second = asked_twice(
        lambda queue: SpanReader(folder, 1, queue), lambda reader: reader.read(WHO, [BERLIN, HAMLET])
    )
    assert first == second
    assert (first.cited is not None) is answered


def test_a_reader_does_not_use_replies_cached_by_another_reader(tmp_path):
    (one := tmp_path / "one").mkdir()
    (other := tmp_path / "other").mkdir()
    store = JsonStore()
    with use_stores(store):
        for folder in (reader_in(one, 0.0), reader_in(other, 0.5)):
            SpanReader(folder, 1).read(WHO, [HAMLET])
    assert len(store.replies) == 2


@pytest.mark.models
def test_the_judge_returns_its_cached_probabilities():
    base, adapter = ROOT / "instance" / "models" / BASE_MODEL, ROOT / "app" / "models" / "judge"
    pairs = [("Hamlet is a play.", [(HAMLET.title, HAMLET.text)]), ("Berlin is in Spain.", [("Berlin", BERLIN.text)])]
    first, second = asked_twice(
        lambda queue: EntailmentJudge(base, adapter, 1, queue), lambda judge: judge.classify(pairs)
    )
    assert first == second
    assert [sum(row) for row in first] == [pytest.approx(1.0)] * 2


@pytest.mark.models
def test_the_reranker_returns_its_cached_order_and_scores():
    first, second = asked_twice(
        lambda queue: CrossEncoderReranker(threads=1, inference=queue),
        lambda reranker: reranker.rerank(WHO.text, [BERLIN, HAMLET]),
    )
    assert first == second
    assert first[0].title == "Hamlet"


@pytest.mark.models
def test_the_language_model_returns_its_cached_completion():
    first, second = asked_twice(
        lambda queue: LocalLM(threads=1, inference=queue),
        lambda model: model.complete("One, two, three,", max_tokens=4),
    )
    assert first == second != ""


def test_a_call_that_times_out_fails_and_is_not_cached(tmp_path):
    folder, store = reader_in(tmp_path, 0.0), JsonStore()
    with use_stores(store), pytest.raises(CallFailed, match="0 seconds"):
        SpanReader(folder, 1, Inference(0.0)).read(WHO, [HAMLET])
    assert store.replies == {}


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
