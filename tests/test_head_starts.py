"""Speculative calls are made where another machine computes them, as far as OVERLAP allows, never for local models."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from app.backends.local.inference_queue import Inference
from app.backends.local.seq2seq import Seq2Seq
from app.config.settings import Settings
from app.container.container import Container
from app.container.parts import MAX_PREFETCHED_PAGES, SpeculationPolicy
from app.domain.model import RunOptions
from app.presets import GUIDED_PRESETS

PURSUIT = RunOptions(strategy="evidence-pursuit")


@dataclass
class Model:
    """A stand-in language model with only its destination."""

    destination: str | None
    name: str = "big"


REMOTE, HERE = Model("api.example.org"), Model(None)


@pytest.mark.parametrize("overlap", ["remote", "all"])
def test_local_models_are_never_speculative(overlap):
    in_process = Seq2Seq("some/flan-t5", Inference(), 1)
    speculative = SpeculationPolicy(overlap)
    assert not speculative.for_modules(GUIDED_PRESETS["prompted"], in_process)
    assert not speculative.for_modules(GUIDED_PRESETS["local"], REMOTE)
    assert not speculative.for_modules(GUIDED_PRESETS["local"], None)
    assert not speculative.for_answers(PURSUIT, REMOTE), "the local reader answers"


@pytest.mark.parametrize(
    "overlap, answerer, search, model, begins",
    [
        ("remote", "web-search", "brave", None, True),
        ("remote", "web-search", "corpus", REMOTE, True),
        ("remote", "web-search", "corpus", None, False),
        ("remote", "reciter-reader", None, REMOTE, True),
        ("remote", "reciter-reader", None, HERE, False),
        ("all", "reciter-reader", None, HERE, True),
        ("remote", "flan-t5", None, REMOTE, False),
        ("off", "web-search", "brave", REMOTE, False),
    ],
)
def test_pursuit_questions_are_answered_in_parallel_when_answers_are_remote(overlap, answerer, search, model, begins):
    options = RunOptions(strategy="evidence-pursuit", answerer=answerer, search=search)
    assert SpeculationPolicy(overlap).for_answers(options, model) is begins


@pytest.mark.parametrize(
    "settings, preset, begins",
    [
        ({}, "prompted", True),
        ({}, "local", False),
        ({"overlap": "off"}, "prompted", False),
        ({"openai_base_url": "http://127.0.0.1:9/v1"}, "prompted", False),
        ({"openai_base_url": "http://127.0.0.1:9/v1", "overlap": "all"}, "prompted", True),
    ],
)
def test_the_container_configures_the_strategys_speculation(tmp_path, settings, preset, begins):
    model = {"openai_api_key": "k", "openai_model": "big", "openai_base_url": "https://api.example.org/v1"}
    container = Container(Settings(instance=tmp_path, **model | settings))
    options = RunOptions(preset=preset, answerer="reciter-reader", model="big")
    assert container.strategy_for(options).speculative is begins
    pursuit = RunOptions(strategy="evidence-pursuit", preset="llm+llm", answerer="reciter-reader", model="big")
    for_answers = settings.get("overlap") != "off" and ("openai_base_url" not in settings or "overlap" in settings)
    assert container.strategy_for(pursuit).speculative is for_answers


def test_the_container_configures_opening_pages_ahead_for_web_search(tmp_path):
    for overlap, pages in (("remote", MAX_PREFETCHED_PAGES), ("off", 0)):
        container = Container(Settings(instance=tmp_path, brave_api_key="k", overlap=overlap))
        options = RunOptions(strategy="evidence-pursuit", preset="local", answerer="web-search", search="brave")
        assert container.strategy_for(options).answerer.prefetched_pages == pages
