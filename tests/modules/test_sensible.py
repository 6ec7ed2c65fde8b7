"""Which questions are whole and say what they are about."""

from __future__ import annotations

import pytest

from app.domain.model import Claim
from app.modules.question_generator.filters import is_whole, points_back
from app.modules.question_generator.local import LocalQuestionGenerator


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Open Water was based on?",
        "Which turret could be was found on the tank?",
        "When was and published his symphonies completed?",
        "What is the top striker as which Danish player, who at times has been?",
        "Who designed the first theory for the atomic bomb was part of a group?",
        "What is the novel that?",
        "Who wrote Open Water by Mia Holm that was heard on the album was based on?",
    ],
)
def test_a_question_with_two_main_verbs_or_none_is_not_whole(question: str) -> None:
    """What a wrong reading of the grammar made is not asked."""
    assert not is_whole(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Open Water?",
        "Who directed La La Land?",
        'Who wrote "What It Was Was Football"?',
        "What is the show that Mia Holm was in?",
        "Which actor was in the film that was shot in Lisbon?",
        "Which film was directed by Mia Holm and was shot in Lisbon?",
        "What did Rui Costa work as?",
        "How many species does Gull Rock have?",
        "Which team has Mia Holm played for?",
        "Who directed the film that was based on Gull Rock?",
        "How many goals has Rui Costa scored?",
        "In which year was the book by Mia Holm published?",
    ],
)
def test_a_whole_question_is_whole(question: str) -> None:
    """One main verb, with what belongs to it in a clause of its own."""
    assert is_whole(question)


@pytest.mark.parametrize(
    ("question", "back"),
    [
        ("Who covered the song?", True),
        ("Who directed this film?", True),
        ("Where was his company based?", True),
        ("Who was the king?", True),
        ("Who invented the saxophone?", False),
        ("Where did Mia Holm leave her coat?", False),
        ("Who directed the film Open Water?", False),
    ],
)
def test_a_question_points_back_when_it_does_not_say_at_what(question: str, back: bool) -> None:
    """A search has nothing to look for in "this film"."""
    assert points_back(question) is back


def test_a_question_that_points_back_is_not_asked_where_the_claim_has_names() -> None:
    """The model's "Who directed this film?" gives way to a question that names it."""

    class Pointing:
        def complete(self, prompt: str, *, max_tokens: int, stop: object = ()) -> str:
            return "Who directed this film?"

    asked = LocalQuestionGenerator(Pointing()).next_question(Claim("Mia Holm saw it with Rui Costa."), (), ())
    assert asked is not None and "this film" not in asked.text
