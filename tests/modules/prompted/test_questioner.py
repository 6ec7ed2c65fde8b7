"""The prompted questioner: one whole question per call, and no repeated one."""

from __future__ import annotations

import pytest

from app.domain.errors import UnparseableOutput
from app.domain.model import Hop, HopStatus, Question
from app.modules.prompted import PromptedQuestioner
from tests.modules.prompted.cases import AUTHOR, CLAIM, ESSAY, IN_VAIN, REFUSAL
from tests.text_generators import playing


def test_the_first_question_is_requested_with_the_claim_alone() -> None:
    """In the paper's wording for the first question."""
    model = playing("Who wrote Emma?")
    assert PromptedQuestioner(model).next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
    case = model.prompts[0].rpartition("\n\n")[2]
    assert "the first simple question we can ask is" in case
    assert CLAIM.text in case


def test_the_next_question_is_requested_with_kept_pairs_and_unanswered_questions() -> None:
    model = playing("Where was Jane Austen born?")
    assert PromptedQuestioner(model).next_question(CLAIM, (AUTHOR,), (IN_VAIN,)) == Question(
        "Where was Jane Austen born?"
    )
    case = model.prompts[0].rpartition("\n\n")[2]
    assert "what other question should we ask next?" in case
    assert "Jane Austen" in case and "- When was Emma filmed?" in case


def test_a_repeated_question_is_retried_once_with_all_asked_questions_listed() -> None:
    model = playing("Who is the author of Emma?", "Where was Jane Austen born?")
    question = PromptedQuestioner(model).next_question(CLAIM, (AUTHOR,), (IN_VAIN,))
    assert question == Question("Where was Jane Austen born?")
    case = model.prompts[1].rpartition("\n\n")[2]
    assert "- Who wrote Emma?" in case and "- When was Emma filmed?" in case
    assert len(model.prompts) == 2


@pytest.mark.parametrize("repeated", ["Who wrote Emma?", "When was Emma filmed?"])
def test_a_second_repetition_ends_the_questions(repeated: str) -> None:
    """Kept and set-aside questions count alike; the run concludes."""
    model = playing(repeated)
    assert PromptedQuestioner(model).next_question(CLAIM, (AUTHOR,), (IN_VAIN,)) is None
    assert len(model.prompts) == 2


def test_a_hop_that_failed_without_a_question_is_not_listed() -> None:
    """An empty line in the prompt would ask for nothing."""
    model = playing("Who wrote Emma?")
    PromptedQuestioner(model).next_question(CLAIM, (), (Hop(1, Question(""), status=HopStatus.FAILED),))
    assert "in vain" not in model.prompts[0]


@pytest.mark.parametrize("text", ["Yes", "True, as is well known", "Unknown", "", REFUSAL, ESSAY])
def test_text_without_one_whole_question_is_an_error(text: str) -> None:
    """The hop fails with a reason; the text is not searched."""
    model = playing(text)
    with pytest.raises(UnparseableOutput):
        PromptedQuestioner(model).next_question(CLAIM, (), ())
    assert len(model.prompts) == 2


def test_a_reply_without_a_question_is_retried_asking_for_the_question_alone() -> None:
    """Small models may answer the claim at once."""
    model = playing("The claim is not supported.", "Who wrote Emma?")
    assert PromptedQuestioner(model).next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
    assert "nothing else" in model.prompts[1] and "nothing else" not in model.prompts[0]
    assert "the first simple question we can ask is" in model.prompts[1].rpartition("\n\n")[2]
