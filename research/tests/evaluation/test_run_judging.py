"""Data of a run kept for evaluation: its pairs, retrieved pages, failures and cost."""

from __future__ import annotations

import pytest

from app.domain.errors import CallFailed, InvalidInput
from app.domain.model import Hop, HopStatus, Label, Question, RunOptions, Usage
from app.domain.ports import RunCommand
from app.runs.budget import Limits
from app.strategies.claim_only import ClaimOnly
from research.evaluation.datasets import Row
from research.evaluation.labels import Gold
from research.evaluation.metering import Metering
from research.evaluation.runs import LimitReached, answerer_for, evidence_pair, run_predictor
from tests.fakes import (
    ONE_SET_ASIDE,
    SUPPORTED,
    TWO_HOPS,
    Script,
    ScriptedAsker,
    ScriptedHop,
    answer,
    scripted_strategy,
)

ROW = Row("r1", "Hamlet was written by an Englishman.", Gold.SUPPORTED)


def judged(script: Script, options: RunOptions = RunOptions(), row: Row = ROW):  # noqa: B008 - it is frozen
    return run_predictor(scripted_strategy(script), options)(row)


def test_pairs_are_the_kept_hops_and_pages_all_retrieved_passages():
    said = judged(ONE_SET_ASIDE)
    assert [piece.answer for piece in said.evidence] == ["William Shakespeare", "England"]
    assert said.evidence[0].url == "https://en.wikipedia.org/wiki/Hamlet"
    assert said.pages == ("Hamlet", "Denmark", "William Shakespeare")
    assert (said.label, said.confidence, said.troubles) == (Label.SUPPORTED, 0.91, ())


def test_the_cost_of_a_runs_calls_is_counted():
    spent = judged(TWO_HOPS).spent
    assert spent.calls > 5 and (spent.prompt_tokens, spent.completion_tokens) == (10 * spent.calls, 2 * spent.calls)


def test_a_failed_call_is_reported_even_when_the_run_has_a_verdict():
    failing = ScriptedHop("Who?", CallFailed("The reader is away."))
    said = judged(Script((failing, *TWO_HOPS.hops), SUPPORTED))
    assert said.label is Label.SUPPORTED and said.troubles == ("The answerer failed: The reader is away.",)


def test_a_run_without_a_verdict_has_no_label_but_a_reason_and_a_cost():
    said = judged(Script(TWO_HOPS.hops, CallFailed("It took too long.")))
    assert said.label is None and said.problem and "It took too long." in said.problem and said.spent.calls > 5


def test_a_run_that_the_days_limit_cuts_short_gives_no_result():
    """Its verdict would be stored, and the row not run again."""
    limits = Metering(Limits(day_calls=3), Spent())
    with pytest.raises(LimitReached, match=r"calls a day was reached: 3\. The same command goes on"):
        run_predictor(scripted_strategy(TWO_HOPS), RunOptions(), metering=limits)(ROW)
    with pytest.raises(LimitReached):
        run_predictor(scripted_strategy(TWO_HOPS), RunOptions(), metering=limits)(ROW)
    assert run_predictor(scripted_strategy(TWO_HOPS), RunOptions(), metering=Metering(Limits(calls=3), None))(ROW).label


@pytest.mark.parametrize("limits", [{"calls": 2}, {"tokens": 200}, {"cost": 0.5}])
@pytest.mark.parametrize("is_daily", [True, False])
def test_every_limit_on_calls_tokens_and_money_binds_an_evaluation(limits, is_daily):
    limits = {f"day_{name}" if is_daily else name: limit for name, limit in limits.items()}
    metering = Metering(Limits(seconds=0, **limits), Spent())
    first, other = metering.budget(), metering.budget()
    assert first.command() is RunCommand.CONTINUE
    for _ in range(2):
        metering.count(first, Usage(1, 90, 10, cost=0.25))
    assert first.command() is RunCommand.FINISH_AFTER_HOP
    assert (other.command() is RunCommand.FINISH_AFTER_HOP) is is_daily


class Spent:
    """A day's spending."""

    def __init__(self) -> None:
        self.usage = Usage()

    def today(self) -> Usage:
        return self.usage

    def add(self, usage: Usage) -> None:
        self.usage += usage


def test_a_bare_yes_or_no_is_explained_by_its_cited_sentence():
    found = answer("No", "She stayed in Basel. No, she never left. That was all.")
    piece = evidence_pair(Hop(1, Question("Did she leave?"), found, HopStatus.KEPT))
    assert piece.answer == "No. No, she never left."


def test_answers_from_memory_retrieve_no_pages():
    assert judged(TWO_HOPS, RunOptions(answerer="reciter-reader")).pages is None


def test_a_row_with_an_unreadable_date_is_a_failed_call():
    with pytest.raises(CallFailed):
        judged(TWO_HOPS, row=Row("r1", "A claim of some day.", Gold.SUPPORTED, date="yesterday"))


def test_a_strategy_without_an_answerer_has_no_single_retrieval():
    strategy = ClaimOnly(ScriptedAsker([SUPPORTED]))
    with pytest.raises(InvalidInput, match="nothing is retrieved"):
        answerer_for(strategy)
    assert run_predictor(strategy, RunOptions(strategy="direct", answerer=""))(ROW).pages is None
