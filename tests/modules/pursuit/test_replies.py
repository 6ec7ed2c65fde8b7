"""What a model replies: a list of questions, a decision, or one question, word for word; or an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import UnparseableOutput
from app.domain.model import Question
from app.domain.ports import Ask, Decide
from app.modules.pursuit_questioners import MAX_WORDS, questions_from, step_from
from tests.modules.prompted.cases import ESSAY, REFUSAL


def asks(text: str) -> str:
    step = step_from(text)
    assert isinstance(step, Ask)
    return step.question.text


@pytest.mark.parametrize(
    "text",
    [
        "[[True]]",
        "[[ true ]]",
        "\\[\\[True\\]\\]",
        "**[[True]]**",
        "[[**True**]]",
        "[ [True] ]",
        "The answers show it: [[True]].",
        "[[True]] Would you like to know more?",
        "True.",
        "**True**, as is well known.",
    ],
)
def test_a_decision_is_read_in_its_brackets_or_as_the_word_that_the_text_begins_with(text: str) -> None:
    assert step_from(text) == Decide(True)
    assert step_from(text.replace("True", "False").replace("true", "false")) == Decide(False)


@pytest.mark.parametrize(
    "text",
    [
        "I can say neither [[True]] nor [[False]] yet. Who wrote Emma?",
        "Should I write [[True]] or [[False]]? Who wrote Emma?",
        "Who wrote Emma? Then I will write [[True]] or [[False]].",
    ],
)
def test_both_decisions_are_none_and_the_question_counts(text: str) -> None:
    assert asks(text) == "Who wrote Emma?"


@pytest.mark.parametrize(
    "text", ["[[True]] or [[False]]", "[[True]], [[False]]?", "[[Perhaps]]" * 100, "", "?", "[[]]"]
)
def test_what_neither_decides_nor_asks_is_an_error(text: str) -> None:
    with pytest.raises(UnparseableOutput):
        step_from(text)


@pytest.mark.parametrize("text", [REFUSAL, ESSAY, "I don't know.", "Unknown", "Yes.", "x" * 500])
def test_a_refusal_or_an_essay_is_no_question_to_search_for(text: str) -> None:
    """In the original whatever the model writes is searched for, "GPT-4 failure: ..." as well."""
    for read in (step_from, questions_from):
        with pytest.raises(UnparseableOutput):
            read(text)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Where did the plane land at 10:30 p.m.?", "Where did the plane land at 10:30 p.m.?"),
        ("One more question: what happened at 10:30 p.m. on Monday?", "what happened at 10:30 p.m. on Monday?"),
        (
            "What is meant: the vote of 10:30 p.m. or that of noon?",
            "What is meant: the vote of 10:30 p.m. or that of noon?",
        ),
        ("Question 2: Who chaired it: Smith or Jones?", "Who chaired it: Smith or Jones?"),
    ],
)
def test_colons_and_hours_inside_a_question_stay(text: str, question: str) -> None:
    """The original deletes up to the last colon: "at 10:30 p.m." became "30 p.m."."""
    assert asks(text) == question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("We do not know enough. Who wrote Emma? Was it Austen?", "Who wrote Emma?"),
        ("**Question:** Who wrote Emma?\n\nThis would help us.", "Who wrote Emma?"),
        ("Next question\nWho wrote Emma?", "Who wrote Emma?"),
        ('"Who wrote Emma?"', "Who wrote Emma?"),
        ("- Who wrote Emma?", "Who wrote Emma?"),
        ("2. Who wrote Emma?", "Who wrote Emma?"),
        ("Where was Erdoğan born?", "Where was Erdoğan born?"),
        ("Где родился Эрдоган?", "Где родился Эрдоган?"),
        ('Who said "Why?" in 2019?', 'Who said "Why?" in 2019?'),
        ("Who wrote\tEmma ?", "Who wrote Emma ?"),
    ],
)
def test_the_first_sentence_with_a_question_mark_is_the_question_as_it_stands(text: str, question: str) -> None:
    assert asks(text) == question


def test_without_a_question_mark_the_whole_output_is_the_question() -> None:
    assert asks("the author of Emma\nand her birthplace") == "the author of Emma and her birthplace"


def test_a_list_is_read_wherever_it_stands_and_each_question_counts_once() -> None:
    text = 'Here [you are]:\n```json\n["Who wrote Emma?", "  Who wrote Emma?", 7, "", "When, at 10:30 p.m.?"]\n```'
    assert questions_from(text) == (Question("Who wrote Emma?"), Question("When, at 10:30 p.m.?"))


@pytest.mark.parametrize("text", ['["Who wrote Emma?", "When', "1. Who wrote Emma?\n2. When?", "['Who wrote Emma?']"])
def test_of_a_list_that_is_no_json_the_first_question_is_taken(text: str) -> None:
    assert questions_from(text) == (Question("Who wrote Emma?"),)


def test_a_long_item_is_left_out() -> None:
    long = "Why " + "so " * MAX_WORDS + "?"
    assert questions_from(f'["{long}", "Who wrote Emma?"]') == (Question("Who wrote Emma?"),)


@given(st.text(alphabet=st.sampled_from(list('[]{}"\\?: Truefals\n*-.ab10é')), max_size=80) | st.text())
def test_whatever_a_model_writes_is_read_or_is_an_error(text: str) -> None:
    """Never another exception, an empty question, or one of more than MAX_WORDS words."""
    for read in (questions_from, step_from):
        try:
            found = read(text)
        except UnparseableOutput:
            continue
        questions = found if isinstance(found, tuple) else [found.question] if isinstance(found, Ask) else []
        assert all(any(letter.isalnum() for letter in question.text) for question in questions)
        assert all(len(question.text.split()) <= MAX_WORDS and "\n" not in question.text for question in questions)


def test_a_thousand_brackets_are_no_list() -> None:
    with pytest.raises(UnparseableOutput):
        questions_from("[" * 5_000)
