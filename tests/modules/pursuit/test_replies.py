"""Parsing a model's reply as a list of questions, a decision, one question, or an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import UnparseableOutput
from app.domain.model import Question
from app.domain.ports import Ask, Decide
from app.modules.output_parsing import MAX_QUERY_WORDS, questions_from, step_from
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
def test_a_decision_is_read_in_brackets_or_as_the_first_word(text: str) -> None:
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
def test_contradictory_decisions_are_ignored_in_favour_of_the_question(text: str) -> None:
    assert asks(text) == "Who wrote Emma?"


@pytest.mark.parametrize(
    "text", ["[[True]] or [[False]]", "[[True]], [[False]]?", "[[Perhaps]]" * 100, "", "?", "[[]]"]
)
def test_a_reply_without_decision_or_question_is_an_error(text: str) -> None:
    with pytest.raises(UnparseableOutput):
        step_from(text)


@pytest.mark.parametrize("text", [REFUSAL, ESSAY, "I don't know.", "Unknown", "Yes.", "x" * 500])
def test_a_refusal_or_an_essay_is_not_a_question(text: str) -> None:
    """The original searches for any output of the model, even "GPT-4 failure: ..." messages."""
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
def test_colons_inside_a_question_are_kept(text: str, question: str) -> None:
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
def test_the_first_sentence_with_a_question_mark_is_the_question(text: str, question: str) -> None:
    assert asks(text) == question


def test_a_list_is_found_anywhere_and_duplicates_are_dropped() -> None:
    text = 'Here [you are]:\n```json\n["Who wrote Emma?", "  Who wrote Emma?", 7, "", "When, at 10:30 p.m.?"]\n```'
    assert questions_from(text) == (Question("Who wrote Emma?"), Question("When, at 10:30 p.m.?"))


@given(st.text(alphabet=st.sampled_from(list('[]{}"\\?: Truefals\n*-.ab10é')), max_size=80) | st.text())
def test_any_text_is_parsed_or_raises_an_error(text: str) -> None:
    """Never another exception, an empty question, or one of more than MAX_QUERY_WORDS words."""
    for read in (questions_from, step_from):
        try:
            found = read(text)
        except UnparseableOutput:
            continue
        questions = found if isinstance(found, tuple) else [found.question] if isinstance(found, Ask) else []
        assert all(any(letter.isalnum() for letter in question.text) for question in questions)
        assert all(
            len(question.text.split()) <= MAX_QUERY_WORDS and "\n" not in question.text for question in questions
        )


def test_deeply_nested_brackets_are_not_a_list() -> None:
    with pytest.raises(UnparseableOutput):
        questions_from("[" * 5_000)
