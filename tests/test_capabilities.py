"""Checking choices by name, availability and compatibility."""

from dataclasses import replace

import pytest

from app.capabilities.options import MIXES, OWN, TITLES, Capabilities, Choice
from app.config.settings import PRESETS
from app.domain.errors import InvalidInput
from app.domain.model import RunOptions

CAPABILITIES = Capabilities(
    strategies=(
        Choice("question-guided", "One question at a time"),
        Choice("evidence-pursuit", "Evidence pursued"),
        Choice("direct", "Direct", needs_model=True),
    ),
    presets=(Choice("local", "Local models"), Choice("prompted", "Prompted", needs_model=True)),
    answerers=(
        Choice("retriever-reader", "Retriever and reader"),
        Choice("reciter-reader", "Reciter and reader", needs_model=True),
        Choice("web-search", "Web search"),
        Choice("oracle", "Oracle").unavailable("It is asleep.", "INCENSE"),
    ),
    models=(
        Choice("big", "A big model", destination="api.example.org"),
        Choice("gone", "Gone").unavailable("No key.", "KEY"),
    ),
    corpora=(
        Choice("vital", "Vital articles"),
        Choice("broken", "Broken").unavailable("Its index is gone.", "make corpus"),
    ),
    pursuits=(Choice("local", "Local models"), Choice("paper", "As published", needs_model=True)),
    searches=(
        Choice("corpus", "The corpora"),
        Choice("brave", "Brave", destination="search.example.org"),
        Choice("serper", "Serper").unavailable("It is not set up.", "SERPER_API_KEY"),
    ),
)
ADMITTING = {"undated": True, "fact_checks": True}
PURSUING = RunOptions(strategy="evidence-pursuit", answerer="web-search", search="brave")


@pytest.mark.parametrize(
    "options",
    [
        RunOptions(),
        RunOptions(preset="prompted", model="big"),
        RunOptions(answerer="reciter-reader", model="big", corpora=()),
        RunOptions(strategy="direct", model="big", answerer="", corpora=()),
        PURSUING,
        replace(PURSUING, preset="paper", model="big", corpora=()),
        replace(PURSUING, answerer="retriever-reader", search=None),
    ],
)
def test_available_and_compatible_options_are_accepted(options):
    CAPABILITIES.check(options)


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        (RunOptions(strategy="guessing"), "strategy", "choose one of: question-guided, evidence-pursuit, direct"),
        (RunOptions(preset="magic"), "preset", "'magic'"),
        (RunOptions(answerer="oracle"), "answerer", "It is asleep."),
        (replace(PURSUING, preset="prompted"), "preset", "choose one of: local, paper"),
        (replace(PURSUING, preset="paper"), "model", "As published needs a language model"),
        (replace(PURSUING, search="serper"), "search", "It is not set up."),
        (replace(PURSUING, search=None), "search", "choose one of: corpus, brave, serper"),
        (replace(PURSUING, search="corpus", corpora=()), "corpora", "at least one"),
        (RunOptions(preset="prompted"), "model", "Prompted needs a language model"),
        (RunOptions(answerer="reciter-reader", model="small"), "model", "'small'"),
        (RunOptions(strategy="direct", model="gone"), "model", "No key."),
        (RunOptions(corpora=()), "corpora", "at least one"),
        (RunOptions(corpora=("vital", "broken")), "corpora", "Its index is gone."),
    ],
)
def test_invalid_options_are_refused_with_field_and_reason(options, field, words):
    with pytest.raises(InvalidInput, match=words) as refused:
        CAPABILITIES.check(options)
    assert refused.value.field == field


def test_a_model_that_nothing_needs_is_not_required():
    CAPABILITIES.check(RunOptions(model="unknown"))
    assert not CAPABILITIES.needs_model(RunOptions())
    assert CAPABILITIES.needs_model(RunOptions(preset="prompted"))
    assert CAPABILITIES.needs_model(RunOptions(strategy="direct"))


@pytest.mark.parametrize(
    ("chosen", "taken_out"),
    [
        (RunOptions(model="big"), {"model": None}),
        (RunOptions(preset="prompted", model="big"), {}),
        (RunOptions(answerer="reciter-reader", model="big"), {"corpora": ()}),
        (RunOptions(strategy="direct", model="big"), {"answerer": "", "corpora": ()}),
        (RunOptions(search="brave", undated=False, fact_checks=False), {"search": None} | ADMITTING),
        (PURSUING, {"corpora": ()}),
        (replace(PURSUING, search="corpus", undated=False), {}),
    ],
)
def test_options_without_effect_are_removed(chosen, taken_out):
    assert CAPABILITIES.effective(chosen) == replace(chosen, **taken_out)


def test_the_destination_is_that_of_the_model_in_use():
    assert CAPABILITIES.destination(RunOptions(preset="prompted", model="big")) == "api.example.org"
    assert CAPABILITIES.destination(RunOptions(model="big")) is None


def test_the_search_destination_is_named_only_when_something_searches():
    assert CAPABILITIES.searched_at(PURSUING) == "search.example.org"
    assert CAPABILITIES.searched_at(replace(PURSUING, search="corpus")) is None
    assert CAPABILITIES.searched_at(RunOptions(search="brave")) is None


def test_every_preset_of_the_settings_is_a_mix_with_a_title():
    assert set(PRESETS) == set(MIXES)
    assert set(TITLES) == {*MIXES, OWN}


def test_a_preset_needs_a_language_model_when_any_module_is_prompted():
    assert not MIXES["local"].needs_model
    assert replace(MIXES["local"], qa_validator="prompted").needs_model
