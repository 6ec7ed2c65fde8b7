"""The local paraphraser: accepted wordings from a small model, then the claim's own wording as a question."""

from __future__ import annotations

import pytest

from app.domain.model import Claim, Question
from app.modules.prompting import demonstrations
from app.modules.pursuit import LocalParaphraser, claim_as_question, keeps_meaning, prompt_for
from app.text.wording import names
from app.web.forms import EXAMPLES
from tests.text_generators import playing

CLAIM = Claim("The author of Emma was born in Hampshire.")
BORN = Question("Where was Jane Austen born?")


def wordings(*said: str, question: Question = BORN, n: int = 4, claim: Claim = CLAIM) -> list[str]:
    return [each.text for each in LocalParaphraser(playing(*said)).paraphrase(claim, question, n)]


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        ("Where was Jane Austen born?", "What is the birthplace of Jane Austen?"),
        ("Where was Jane Austen born?", "In which city was Jane Austen born?"),
        ("Who wrote Emma?", "Who is the author of Emma?"),
        ("When was Emma published?", "In what year was Emma published?"),
        ("Where was Erdoğan born?", "In which city was Erdogan born?"),
    ],
)
def test_a_wording_with_the_same_names_and_the_same_question_is_accepted(question: str, wording: str) -> None:
    assert keeps_meaning(question, wording)


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        ("Where was Jane Austen born?", "Where was she born?"),
        ("Where was Jane Austen born?", "In what year was Jane Austen born?"),
        ("Where was Jane Austen born?", "Who was Jane Austen?"),
        ("Who painted the Mona Lisa?", "In what year did Leonardo da Vinci paint the Mona Lisa?"),
        ("How many votes did Joe Biden receive in Georgia?", "How many votes did Joe Biden receive?"),
        ("Who won the election of 2020?", "Who won the election of 2016?"),
        ("Who founded Microsoft?", "What is the name of the company that founded Microsoft?"),
        ("When was the video taken?", "Which video was taken?"),
        ("Was Jane Austen praised by Walter Scott?", "Did Jane Austen praise Walter Scott?"),
        ("What did Macron say?", "What did Macron say about the climate?"),
        ("Where is Kilimanjaro?", "Which island is Kilimanjaro?"),
    ],
)
def test_a_wording_that_asks_something_else_is_rejected(question: str, wording: str) -> None:
    assert not keeps_meaning(question, wording)


def test_the_models_wordings_come_first_without_duplicates() -> None:
    found = wordings("What is the birthplace of Jane Austen?", "is the birthplace of Jane Austen?", "x", "x")
    assert found[:2] == [
        "What is the birthplace of Jane Austen?",
        "Is it true that the author of Emma was born in Hampshire?",
    ]


@pytest.mark.parametrize("said", ["", "x", "Who was Jane Austen?", "I cannot say."])
def test_without_an_accepted_wording_the_claims_own_wording_is_used(said: str) -> None:
    assert wordings(said)[0] == "Is it true that the author of Emma was born in Hampshire?"


def test_the_model_is_not_called_for_a_yes_no_question() -> None:
    """None of its wordings would be accepted."""
    model = playing("Is it so?")
    assert LocalParaphraser(model).paraphrase(CLAIM, Question("Was Jane Austen born in Hampshire?"), 4)
    assert model.prompts == []


def test_at_most_n_wordings_are_returned() -> None:
    assert len(wordings("What is the birthplace of Jane Austen?", n=1)) == 1


@pytest.mark.parametrize(
    ("claim", "question"),
    [
        ("The Nile is long.", "Is it true that the Nile is long?"),
        ("Turkey joined NATO in 1952.", "Is it true that Turkey joined NATO in 1952?"),
        ("US troops left.", "Is it true that US troops left?"),
        ("Bill Gates owns it.", "Is it true that Bill Gates owns it?"),
        ("Erdoğan was mayor!", "Is it true that Erdoğan was mayor?"),
        ("Земля круглая.", "Is it true that Земля круглая?"),
        ("Is\nit so?", "Is it true that is it so?"),
    ],
)
def test_a_claim_is_turned_into_a_question_in_its_own_words(claim: str, question: str) -> None:
    assert claim_as_question(Claim(claim)) == question


def test_demonstrations_keep_names_change_words_and_show_no_sample() -> None:
    for each in demonstrations("same_question"):
        assert names(each["question"]) == names(each["same"]) and each["question"] != each["same"]
    shown = " ".join(f"{each['question']} {each['same']}" for each in demonstrations("same_question"))
    for sample in EXAMPLES:
        assert not [name for name in names(sample.claim) if name in shown], sample.claim


def test_the_prompt_ends_where_the_other_wording_begins() -> None:
    assert prompt_for(Question("Who\nwrote Emma?")).endswith(
        "Question = Who wrote Emma?\nThe same question in other words ="
    )
