"""Whole runs of both strategies when the web has nothing or fails: they end without a forced verdict."""

from __future__ import annotations

import pytest

from app.domain.errors import CallFailed
from app.domain.events import HopFailed, RunFailed, VerdictReached
from app.domain.model import Label, LabelSet, RunOptions
from app.modules.answerers.web_documents import PromptedChooser, PromptedReader
from app.modules.answerers.web_search import DocumentSettings, WebSearchAnswerer
from tests.modules.answering.hostile_pages import careful
from tests.modules.answering.test_hostile_pages import CLAIM, FACT, evidence_pursuit
from tests.modules.answering.web_fakes import TablePages, TableSearch, hit
from tests.one_claim import prompted
from tests.text_generators import PlayedModel

STRATEGIES = pytest.mark.parametrize("strategy", [prompted, evidence_pursuit])


def run(strategy, search: TableSearch, play=careful, claim=CLAIM, labels=LabelSet.THREE, **settings) -> list:
    model = PlayedModel(play)
    answerer = WebSearchAnswerer(
        search, TablePages(), PromptedChooser(model), PromptedReader(model), DocumentSettings(**settings)
    )
    return list(strategy(model, answerer).run(claim, RunOptions(labels=labels, answerer="web-search")))


@STRATEGIES
@pytest.mark.parametrize("labels", list(LabelSet))
def test_without_any_evidence_the_verdict_is_not_enough(strategy, labels: LabelSet) -> None:
    """The original kept asking, possibly without end, and forced a verdict."""
    last = run(strategy, TableSearch(), labels=labels)[-1]
    assert isinstance(last, VerdictReached) and last.verdict.label is Label.NOT_ENOUGH_EVIDENCE


@STRATEGIES
def test_a_run_in_which_every_search_fails_fails_with_the_reason(strategy) -> None:
    events = run(strategy, TableSearch(failure=CallFailed("The search engine refuses the key.")))
    assert isinstance(events[-1], RunFailed)
    failed = [event for event in events if isinstance(event, HopFailed)]
    assert failed and all(event.message == "The search engine refuses the key." for event in failed)


@STRATEGIES
def test_a_model_failure_while_choosing_fails_the_hop(strategy) -> None:
    """The failure message is not an answer."""

    def play(prompt: str) -> str:
        if "choose the one document" in prompt:
            raise CallFailed("The model is busy (429).")
        return careful(prompt)

    events = run(strategy, TableSearch((hit(1, FACT),)), play)
    assert isinstance(events[-1], RunFailed)
    assert {event.message for event in events if isinstance(event, HopFailed)} == {"The model is busy (429)."}
