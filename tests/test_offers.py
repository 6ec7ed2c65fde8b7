"""What can be chosen is checked by name, by what is there, and by what goes together."""

from dataclasses import replace

import pytest

from app.offers import MIXES, OWN, TITLES, Choice, Offers
from app.reasoning.errors import InvalidInput
from app.reasoning.types import RunOptions
from app.settings import PRESETS

OFFERS = Offers(
    strategies=(Choice("question-guided", "One question at a time"), Choice("direct", "Direct", needs_model=True)),
    presets=(Choice("local", "Local models"), Choice("prompted", "Prompted", needs_model=True)),
    answerers=(
        Choice("retriever-reader", "Retriever and reader"),
        Choice("reciter-reader", "Reciter and reader", needs_model=True),
        Choice("web-search", "Web search").without("No key is set.", "SEARCH_KEY"),
    ),
    models=(
        Choice("big", "A big model", destination="api.example.org"),
        Choice("gone", "Gone").without("No key.", "KEY"),
    ),
    corpora=(
        Choice("vital", "Vital articles"),
        Choice("broken", "Broken").without("Its index is gone.", "make corpus"),
    ),
)


@pytest.mark.parametrize(
    "options",
    [
        RunOptions(),
        RunOptions(preset="prompted", model="big"),
        RunOptions(answerer="reciter-reader", model="big", corpora=()),
        RunOptions(strategy="direct", model="big", answerer="", corpora=()),
    ],
)
def test_what_is_there_and_goes_together_passes(options):
    OFFERS.check(options)


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        (RunOptions(strategy="guessing"), "strategy", "choose one of: question-guided, direct"),
        (RunOptions(preset="magic"), "preset", "'magic'"),
        (RunOptions(answerer="web-search"), "answerer", "No key is set."),
        (RunOptions(preset="prompted"), "model", "Prompted needs a language model"),
        (RunOptions(answerer="reciter-reader", model="small"), "model", "'small'"),
        (RunOptions(strategy="direct", model="gone"), "model", "No key."),
        (RunOptions(corpora=()), "corpora", "at least one"),
        (RunOptions(corpora=("vital", "broken")), "corpora", "Its index is gone."),
    ],
)
def test_what_cannot_run_is_refused_with_the_field_and_the_reason(options, field, words):
    with pytest.raises(InvalidInput, match=words) as refused:
        OFFERS.check(options)
    assert refused.value.field == field


def test_a_model_that_nothing_needs_is_not_asked_for():
    OFFERS.check(RunOptions(model="unknown"))
    assert not OFFERS.needs_model(RunOptions())
    assert OFFERS.needs_model(RunOptions(preset="prompted"))
    assert OFFERS.needs_model(RunOptions(strategy="direct"))


@pytest.mark.parametrize(
    ("chosen", "taken_out"),
    [
        (RunOptions(model="big"), {"model": None}),
        (RunOptions(preset="prompted", model="big"), {}),
        (RunOptions(answerer="reciter-reader", model="big"), {"corpora": ()}),
        (RunOptions(strategy="direct", model="big"), {"answerer": "", "corpora": ()}),
    ],
)
def test_what_would_not_be_at_work_is_taken_out_of_the_options(chosen, taken_out):
    assert OFFERS.at_work(chosen) == replace(chosen, **taken_out)


def test_the_destination_is_that_of_the_model_that_is_at_work_and_of_no_other():
    assert OFFERS.destination(RunOptions(preset="prompted", model="big")) == "api.example.org"
    assert OFFERS.destination(RunOptions(model="big")) is None


def test_every_preset_of_the_settings_is_a_mix_with_a_title():
    assert set(PRESETS) == set(MIXES)
    assert set(TITLES) == {*MIXES, OWN}


def test_a_mix_needs_a_language_model_as_soon_as_one_module_is_prompted():
    assert not MIXES["local"].needs_model
    assert replace(MIXES["local"], qa_validator="prompted").needs_model
