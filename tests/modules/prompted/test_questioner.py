"""The prompted questioner: one whole question, and none that was asked before."""

from __future__ import annotations

import pytest

from app.domain.errors import UnparseableOutput
from app.domain.model import Hop, HopStatus, Question
from app.modules.question_generator import PromptedQuestioner
from tests.modules.prompted.cases import AUTHOR, CLAIM, ESSAY, IN_VAIN, REFUSAL
from tests.text_generators import playing


def test_the_first_question_is_asked_with_the_claim_alone() -> None:
    """In the paper's words for the first question."""
    model = playing("Who wrote Emma?")
    assert PromptedQuestioner(model).next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
    case = model.prompts[0].rpartition("\n\n")[2]
    assert "the first simple question we can ask is" in case
    assert CLAIM.text in case


def test_the_next_question_is_asked_with_what_is_known_and_what_was_in_vain() -> None:
    """Kept pairs as knowledge, the others by their questions alone."""
    model = playing("Where was Jane Austen born?")
    assert PromptedQuestioner(model).next_question(CLAIM, (AUTHOR,), (IN_VAIN,)) == Question(
        "Where was Jane Austen born?"
    )
    case = model.prompts[0].rpartition("\n\n")[2]
    assert "what other question should we ask next?" in case
    assert "Jane Austen" in case and "- When was Emma filmed?" in case


def test_a_question_that_was_asked_is_asked_for_once_more_with_all_of_them_named() -> None:
    """In other words it is still the same question."""
    model = playing("Who is the author of Emma?", "Where was Jane Austen born?")
    question = PromptedQuestioner(model).next_question(CLAIM, (AUTHOR,), (IN_VAIN,))
    assert question == Question("Where was Jane Austen born?")
    case = model.prompts[1].rpartition("\n\n")[2]
    assert "- Who wrote Emma?" in case and "- When was Emma filmed?" in case
    assert len(model.prompts) == 2


@pytest.mark.parametrize("repeated", ["Who wrote Emma?", "When was Emma filmed?"])
def test_a_model_that_repeats_itself_twice_has_nothing_left_to_ask(repeated: str) -> None:
    """Kept or set aside makes no difference; the run concludes, and nothing loops."""
    model = playing(repeated)
    assert PromptedQuestioner(model).next_question(CLAIM, (AUTHOR,), (IN_VAIN,)) is None
    assert len(model.prompts) == 2


def test_a_hop_that_failed_before_it_had_a_question_is_no_question() -> None:
    """An empty line in the prompt would ask for nothing."""
    model = playing("Who wrote Emma?")
    PromptedQuestioner(model).next_question(CLAIM, (), (Hop(1, Question(""), status=HopStatus.FAILED),))
    assert "in vain" not in model.prompts[0]


@pytest.mark.parametrize("text", ["Yes", "True, as is well known", "Unknown", "", REFUSAL, ESSAY])
def test_text_without_one_whole_question_is_an_error(text: str) -> None:
    """The hop fails and says so; nothing is searched for in its place."""
    model = playing(text)
    with pytest.raises(UnparseableOutput):
        PromptedQuestioner(model).next_question(CLAIM, (), ())
    assert len(model.prompts) == 2


def test_a_model_that_writes_something_else_first_is_asked_for_the_question_alone() -> None:
    """Small models answer the claim at once; told to write a question and nothing else, they may."""
    model = playing("The claim is not supported.", "Who wrote Emma?")
    assert PromptedQuestioner(model).next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
    assert "nothing else" in model.prompts[1] and "nothing else" not in model.prompts[0]
    assert "the first simple question we can ask is" in model.prompts[1].rpartition("\n\n")[2]


def test_what_a_chat_model_puts_around_its_question_is_left_out() -> None:
    """The form repeated, markup, and a case of its own that follows."""
    model = playing("**Question = Who wrote Emma?**\n\nClaim = Another claim.\nQuestion = Who?")
    assert PromptedQuestioner(model).next_question(CLAIM, (), ()) == Question("Who wrote Emma?")
