"""Model text becomes one whole question or an error; nothing is guessed."""

from __future__ import annotations

import pytest

from app.modules.parsing import MAX_WORDS, question_from
from app.reasoning.errors import UnparseableOutput
from app.reasoning.types import Question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (" Who wrote Emma?", "Who wrote Emma?"),
        ("who wrote   Emma?\nQuestion 2 = Why?", "Who wrote Emma?"),
        ('\n "Who wrote Emma?"', "Who wrote Emma?"),
        ("When did it begin: at 10:30 p.m.?", "When did it begin: at 10:30 p.m.?"),
        ("Where was Erdoğan born?", "Where was Erdoğan born?"),
    ],
)
def test_the_first_line_with_one_question_is_taken_as_it_stands(text: str, question: str) -> None:
    """White space, quotes and later lines fall away; letters, colons and digits stay."""
    assert question_from(text) == Question(question)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "Jane Austen",
        "Who is he? Who is she?",
        "Who wrote",
        "?",
        "Why " + "so " * MAX_WORDS + "?",
    ],
)
def test_anything_else_is_unparseable(text: str) -> None:
    """No text, a statement, two questions, half a question, a mark alone and a long story hold no question."""
    with pytest.raises(UnparseableOutput):
        question_from(text)
