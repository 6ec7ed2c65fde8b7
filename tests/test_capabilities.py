"""Checking choices by name, availability and compatibility."""

from dataclasses import replace

import pytest

from app.capabilities.options import Capabilities, Choice, source_of
from app.domain.errors import InvalidInput
from app.domain.model import RunOptions
from app.run_request import resolve_options

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
        Choice("live", "Live", destination="wiki.example.org"),
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
        (RunOptions(preset="magic"), "preset", "'magic'"),
        (RunOptions(answerer="oracle"), "answerer", "It is asleep."),
        (replace(PURSUING, preset="prompted"), "preset", "choose one of: local, paper"),
        (replace(PURSUING, preset="paper"), "model", "As published needs a language model"),
        (replace(PURSUING, search="serper"), "search", "It is not set up."),
        (replace(PURSUING, search="corpus", corpora=()), "corpora", "at least one"),
        (RunOptions(answerer="reciter-reader", model="small"), "model", "'small'"),
        (RunOptions(strategy="direct", model="gone"), "model", "No key."),
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
    assert CAPABILITIES.searched_at(RunOptions(corpora=("vital", "live"))) == "wiki.example.org"
    assert CAPABILITIES.searched_at(replace(PURSUING, search="corpus", corpora=("live",))) == "wiki.example.org"
    assert CAPABILITIES.searched_at(replace(PURSUING, corpora=("live",))) == "search.example.org"


@pytest.mark.parametrize(
    ("given", "answerer", "search", "corpora"),
    [
        ({}, "retriever-reader", None, ("vital",)),
        ({"answerer": "web-search"}, "web-search", "corpus", ("vital",)),
        ({"strategy": "evidence-pursuit"}, "web-search", "corpus", ("vital",)),
        ({"corpora": ("vital",)}, "retriever-reader", None, ("vital",)),
    ],
)
def test_the_source_of_a_corpus_sets_the_answerer_and_what_it_searches(given, answerer, search, corpora):
    options = resolve_options({**given, "source": "vital"}, CAPABILITIES)
    assert (options.answerer, options.search, options.corpora) == (answerer, search, corpora)


@pytest.mark.parametrize("given", [{}, {"answerer": "web-search"}, {"search": "brave"}])
def test_the_source_web_sets_the_search_engine_that_is_set_up(given):
    options = resolve_options({**given, "source": "web"}, CAPABILITIES)
    assert (options.answerer, options.search, options.corpora) == ("web-search", "brave", ())
    assert CAPABILITIES.searched_at(options) == "search.example.org"


@pytest.mark.parametrize(
    ("source", "given", "words"),
    [
        ("vital", {"answerer": "reciter-reader", "model": "big"}, "vital does not go with the answerer reciter-reader"),
        ("vital", {"search": "brave"}, "vital does not go with the search brave"),
        ("web", {"answerer": "retriever-reader"}, "web does not go with the answerer retriever-reader"),
        ("web", {"corpora": ["vital"]}, "web does not go with the corpora vital"),
        ("broken", {}, "Broken is not available here. Its index is gone."),
        ("simple-wikipedia", {}, "Simple Wikipedia is not available here. It is not on this machine yet."),
        ("library", {}, "There is no source 'library'; choose one of: vital, broken, live, simple-wikipedia, web."),
    ],
)
def test_a_source_that_is_unavailable_or_contradicted_is_refused(source, given, words):
    with pytest.raises(InvalidInput, match=words) as refused:
        resolve_options({**given, "source": source}, CAPABILITIES)
    assert refused.value.field == "source"


def test_the_web_is_a_source_only_where_a_search_engine_is_set_up():
    without = replace(CAPABILITIES, searches=CAPABILITIES.searches[:1])
    assert {each.name: each.available for each in without.sources}["web"] is False
    assert {each.name: each.destination for each in CAPABILITIES.sources}["web"] == "search.example.org"


@pytest.mark.parametrize("strategy", ["question-guided", "evidence-pursuit"])
@pytest.mark.parametrize("source", ["vital", "web"])
def test_the_source_of_options_is_the_one_that_set_them(source, strategy):
    assert source_of(resolve_options({"source": source, "strategy": strategy}, CAPABILITIES)) == source


@pytest.mark.parametrize(
    "options",
    [
        RunOptions(strategy="direct", model="big"),
        RunOptions(answerer="reciter-reader", model="big"),
        RunOptions(corpora=("vital", "broken")),
        RunOptions(answerer="web-search", search="corpus"),
    ],
)
def test_options_that_no_source_sets_have_none(options):
    assert source_of(options) == ""
