"""The prompted claim verifier and validator: yes or no from the model, and an error for anything else."""

from __future__ import annotations

import pytest

from app.domain.errors import UnparseableOutput
from app.modules.prompted import PromptedClaimVerifier, PromptedValidator
from tests.modules.prompted.cases import AUTHOR, BIRTH, CLAIM, ESSAY, REFUSAL, hop
from tests.text_generators import PlayedModel, playing


def sufficient(model: PlayedModel):
    return PromptedClaimVerifier(model).is_sufficient(CLAIM, (AUTHOR, BIRTH))


def useful(model: PlayedModel):
    return PromptedValidator(model).is_useful(CLAIM, (AUTHOR,), BIRTH)


@pytest.mark.parametrize("decide", [sufficient, useful])
@pytest.mark.parametrize(
    ("text", "holds"), [("Yes", True), ("**Yes**, we can know.", True), ("No", False), ("No, we cannot know.", False)]
)
def test_the_models_reply_decides(decide, text: str, holds: bool) -> None:
    judgement = decide(playing(text, probability=0.8))
    assert (judgement.holds, judgement.confidence) == (holds, 0.8)
    assert judgement.reason.values == {"model": "gpt"}


@pytest.mark.parametrize("decide", [sufficient, useful])
@pytest.mark.parametrize("text", ["True, as is well known", "Unknown", "", REFUSAL, ESSAY, "Yes or no"])
def test_any_other_reply_is_an_error(decide, text: str) -> None:
    """For instance, the "no" in "known" is not a no; the step fails, and the run shows it."""
    with pytest.raises(UnparseableOutput):
        decide(playing(text))


def test_the_verifier_sees_the_claim_and_every_kept_pair() -> None:
    model = playing("Yes")
    sufficient(model)
    case = model.prompts[0].rpartition("\n\n")[2]
    for line in (CLAIM.text, "Question 1 = Who wrote Emma?", "Question 2 = Where was Jane Austen born?", "Steventon"):
        assert line in case


def test_the_validator_asks_about_the_new_pair_given_the_kept_ones() -> None:
    model = playing("Yes")
    useful(model)
    known, _, further = model.prompts[0].rpartition("\n\n")[2].partition("Now we further know:")
    assert "Jane Austen" in known and "Steventon" in further


def test_a_pair_without_an_answer_is_not_useful_and_costs_no_call() -> None:
    model = playing("Yes")
    assert not PromptedValidator(model).is_useful(CLAIM, (), hop(1, "Who wrote Emma?", None)).holds
    assert not model.prompts
