"""The prompted questioner and paraphraser: their prompts, accepted replies, and retries."""

from __future__ import annotations

import pytest

from app.domain.errors import UnparseableOutput
from app.domain.model import Claim, LabelSet, Question
from app.domain.ports import Ask, Decide
from app.modules.prompting import Delimiters
from app.modules.pursuit import PromptedParaphraser, PromptedPursuer, first_prompts, step_prompts
from app.modules.reasoner import reasoning_prompts
from tests.modules.prompted.cases import AUTHOR, BIRTH, CLAIM, ESSAY, IN_VAIN, REFUSAL, hop
from tests.text_generators import playing

LIST = '["Who wrote Emma?", "Where was she born?", "When was Emma published?"]'
KNOWN = Claim(CLAIM.text, "Jane Doe", "2020-10-31")


def test_the_first_item_of_the_list_is_the_first_question() -> None:
    assert PromptedPursuer(playing(LIST)).first_questions(CLAIM, 1) == (Question("Who wrote Emma?"),)


def test_all_questions_at_once_are_the_first_n_of_the_list() -> None:
    pursuer = PromptedPursuer(playing(LIST))
    assert [question.text for question in pursuer.first_questions(CLAIM, 2)] == [
        "Who wrote Emma?",
        "Where was she born?",
    ]
    assert len(pursuer.first_questions(CLAIM, 5)) == 3


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("[[True]]", Decide(True)),
        ("[[False]]", Decide(False)),
        ("Where was Jane Austen born?", Ask(Question("Where was Jane Austen born?"))),
    ],
)
def test_a_step_is_a_decision_or_another_question(said: str, step: Ask | Decide) -> None:
    assert PromptedPursuer(playing(said)).next_step(CLAIM, (AUTHOR,), ()) == step


def test_the_step_prompt_lists_every_question_so_far() -> None:
    """Answers between marks, unanswered questions by their text, and failed hops without a question left out."""
    prompt = step_prompts(CLAIM, (AUTHOR, BIRTH), (IN_VAIN, hop(4, "", None)))[0]
    mark = Delimiters.for_texts(["Jane Austen", "Steventon"]).name
    assert f"Question 1 = Who wrote Emma?\nAnswer 1 = [data {mark}] Jane Austen [end {mark}]" in prompt
    assert f"Answer 3 = [data {mark}] Steventon [end {mark}]" in prompt
    assert "- When was Emma filmed?\n" in prompt and "- \n" not in prompt
    assert "[[True]] or [[False]]" in prompt


def test_speaker_and_date_are_in_the_prompts_when_known() -> None:
    for prompt in (first_prompts(KNOWN)[0], step_prompts(KNOWN, (AUTHOR,), ())[0]):
        assert "the following claim by Jane Doe on 2020-10-31." in prompt
    assert "following claim.\n" in first_prompts(CLAIM)[0]
    assert "following claim by Jane Doe.\n" in first_prompts(Claim("X is Y.", "Jane Doe"))[0]
    assert "following claim on 2020-10-31.\n" in first_prompts(Claim("X is Y.", None, "2020-10-31"))[0]


def test_speaker_and_date_are_only_in_the_case_of_the_late_verdict_prompt() -> None:
    attribution = "The claim was made by Jane Doe on 2020-10-31."
    prompt = reasoning_prompts(KNOWN, (AUTHOR,), LabelSet.THREE.labels)[0]
    assert prompt.count(attribution) == 1 and attribution in prompt.rpartition("\n\n")[2]
    assert "The claim was made" not in reasoning_prompts(CLAIM, (AUTHOR,), LabelSet.THREE.labels)[0]


def test_a_very_long_speaker_is_truncated_to_a_few_words_on_one_line() -> None:
    prompt = first_prompts(Claim(CLAIM.text, "Lord\nSo and so " * 400, None))[0]
    assert len(prompt) < 600
    assert "claim by Lord So and so" in prompt


@pytest.mark.parametrize("text", [REFUSAL, ESSAY, "", "Unknown"])
def test_an_unusable_reply_is_retried_once_with_a_stricter_request(text: str) -> None:
    model = playing(text, LIST)
    assert PromptedPursuer(model).first_questions(CLAIM, 1) == (Question("Who wrote Emma?"),)
    assert "nothing else" in model.prompts[1] and "nothing else" not in model.prompts[0]
    model = playing(text, "[[False]]")
    assert PromptedPursuer(model).next_step(CLAIM, (AUTHOR,), ()) == Decide(False)
    model = playing(text, LIST)
    assert PromptedParaphraser(model).paraphrase(CLAIM, Question("Who?"), 4)


@pytest.mark.parametrize("text", [REFUSAL, ESSAY, "", "Unknown"])
def test_a_model_that_never_asks_is_an_error(text: str) -> None:
    model = playing(text)
    with pytest.raises(UnparseableOutput):
        PromptedPursuer(model).first_questions(CLAIM, 1)
    assert len(model.prompts) == 2
    with pytest.raises(UnparseableOutput):
        PromptedPursuer(model).next_step(CLAIM, (AUTHOR,), ())
    with pytest.raises(UnparseableOutput):
        PromptedParaphraser(model).paraphrase(CLAIM, Question("Who?"), 4)


def test_four_wordings_are_requested_without_the_claim_and_the_question_itself_is_dropped() -> None:
    model = playing(
        '["Who is the author of Emma?", "Who wrote Emma?", "Who penned Emma?", "By whom is Emma?", "A?", "B?"]'
    )
    found = PromptedParaphraser(model).paraphrase(CLAIM, Question("Who wrote Emma?"), 4)
    assert [each.text for each in found] == ["Who is the author of Emma?", "Who penned Emma?", "By whom is Emma?", "A?"]
    assert "four" not in model.prompts[0] and "give 4 ways" in model.prompts[0]
    assert "Hampshire" not in model.prompts[0]
