"""The claim-only baselines: a verdict without hops that states that no evidence was used."""

from __future__ import annotations

import pytest

from app.domain.errors import CallFailed
from app.domain.events import QuestioningEnded, RunFailed, VerdictReached
from app.domain.messages import Code, code_of
from app.domain.model import Claim, Label, LabelSet, RunOptions
from app.domain.ports import RunCommand
from app.modules.paper_prompts import ChainOfThoughtClassifier, DirectClassifier
from app.strategies.claim_only import ClaimOnly
from tests.modules.prompted.cases import ESSAY, REFUSAL
from tests.strategies.lockstep import Steered
from tests.text_generators import PlayedModel, playing

CLAIM = Claim("Emma was written by Jane Austen.")
BASELINE_CLASSIFIERS = (DirectClassifier, ChainOfThoughtClassifier)


def run(classifier, labels: LabelSet = LabelSet.THREE, control=None) -> list:
    return list(ClaimOnly(classifier).run(CLAIM, RunOptions(labels=labels), control=control))


@pytest.mark.parametrize("make", BASELINE_CLASSIFIERS)
def test_a_verdict_from_the_claim_alone_says_so_first(make) -> None:
    ended, reached = run(make(playing("true")))
    assert isinstance(ended, QuestioningEnded) and isinstance(reached, VerdictReached)
    assert reached.verdict.label is Label.SUPPORTED
    assert reached.verdict.rationale[0].text == Code.FROM_MEMORY(model="gpt")
    assert not any(sentence.hops for sentence in reached.verdict.rationale)


def test_direct_prompting_asks_once_and_keeps_the_probability() -> None:
    """QACheck's prompt, and a choice among the labels."""
    model = playing("false", probability=0.9)
    *_, reached = run(DirectClassifier(model), LabelSet.TWO)
    assert (reached.verdict.label, reached.verdict.confidence) == (Label.REFUTED, 0.9)
    assert "Is this claim true or false?" in model.prompts[0]


def test_a_chain_of_thought_is_shown_and_its_last_line_decides() -> None:
    """A number that looks like a citation is not one: there are no hops."""
    model = playing("Emma is of 1815 [1]. It is by Jane Austen.\nTherefore, the final answer is: true")
    *_, reached = run(ChainOfThoughtClassifier(model))
    assert "Let's think step-by-step" in model.prompts[0]
    assert [sentence.text for sentence in reached.verdict.rationale[1:]] == [
        "Emma is of 1815.",
        "It is by Jane Austen.",
    ]
    assert reached.verdict.label is Label.SUPPORTED


def test_a_chain_of_thought_without_a_label_is_followed_by_a_choice() -> None:
    """The thoughts precede the choice in the prompt."""
    model = playing("It is by Jane Austen.", "true")
    *_, reached = run(ChainOfThoughtClassifier(model))
    assert reached.verdict.label is Label.SUPPORTED
    assert "It is by Jane Austen.\nLabel =" in model.prompts[1]


def test_not_enough_evidence_reports_all_evidence_as_missing() -> None:
    *_, reached = run(DirectClassifier(playing("not enough evidence")))
    assert reached.verdict.missing == Code.NO_EVIDENCE()


@pytest.mark.parametrize("make", BASELINE_CLASSIFIERS)
@pytest.mark.parametrize("text", ["Yes", "**Yes**, we can know.", "Unknown", "", REFUSAL, ESSAY])
def test_text_without_a_label_fails_the_run(make, text: str) -> None:
    last = run(make(playing(text)))[-1]
    assert isinstance(last, RunFailed) and code_of(last.message) is Code.FAILED


@pytest.mark.parametrize("make", BASELINE_CLASSIFIERS)
def test_a_failed_call_fails_the_run(make) -> None:
    def refuse(prompt: str) -> str:
        raise CallFailed("The key was turned down.")

    assert run(make(PlayedModel(refuse)))[-1] == RunFailed(
        Code.FAILED(module="model", problem="The key was turned down.")
    )


def test_a_run_without_budget_concludes_with_not_enough_evidence() -> None:
    """This is not a failure; the budget's message is on the page."""
    model = playing("true")
    ended, reached = run(DirectClassifier(model), control=Steered(RunCommand.FINISH_AFTER_HOP))
    assert ended.reason == "Somebody wished so."
    assert (reached.verdict.label, reached.verdict.rationale) == (Label.NOT_ENOUGH_EVIDENCE, ())
    assert not model.prompts
