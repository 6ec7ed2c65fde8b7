"""Who or what is looked up, in which words, and what is no longer open."""

from __future__ import annotations

import pytest

from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Passage, Question, Span
from app.modules.question_generator.entities import answer_look_ups, looks_up_what_was_read, name_look_ups

MEAL = Passage("The Lisbon Stew (1931) is a dish. It was made by Rui Costa.", "Stew of Lisbon", "test")


def kept(question: str, answer: str, passage: Passage | None = None) -> Context:
    span = Span(passage, 0, 3) if passage else None
    return (Hop(1, Question(question), Answer(answer, span), HopStatus.KEPT),)


@pytest.mark.parametrize(
    ("claim", "first"),
    [
        ("Holm replaced Danish politician Mia Berg.", "Who was Holm?"),
        ("The song by Holm was sold.", "Who was Holm?"),
        ("Anna Lind acted in a version of Otto Frisch.", "What is Otto Frisch?"),
        ("The Berg family moved.", "What is the Berg family?"),
        ("The Man from Gull Rock II was sold.", "What is the Man from Gull Rock II?"),
    ],
    ids=[
        "does what people do",
        "maker of a work",
        "a work like a person's name",
        "a family",
        "a title with a person in it",
    ],
)
def test_the_claim_tells_whether_a_name_is_a_persons(claim: str, first: str) -> None:
    assert first in name_look_ups(Claim(claim))


def test_an_answer_is_looked_up_where_it_is_new_to_the_claim() -> None:
    claim = Claim("The first Danish composer to win was Mia Holm, not Anton Berg.")
    assert answer_look_ups(claim, kept("Who won first?", "Rui Costa")) == ["Who was Rui Costa?"]
    assert answer_look_ups(claim, kept("Who won first?", "Mia Holm")) == []


@pytest.mark.parametrize(
    ("claim", "looked_up"),
    [
        ("Anton Berg was born in Lisbon.", []),
        ("Anton Berg was born on an archipelago in the Ebru Sea.", ["What is Arendia?"]),
    ],
    ids=["the claim names the place", "the claim describes the place"],
)
def test_a_place_is_looked_up_where_the_claim_describes_it(claim: str, looked_up: list[str]) -> None:
    assert answer_look_ups(Claim(claim), kept("Where was Anton Berg born?", "Arendia")) == looked_up


def test_what_a_noun_for_a_person_asks_for_is_a_person() -> None:
    context = kept("What was the first Danish composer to win?", "Mia Holm")
    assert answer_look_ups(Claim("The first Danish composer to win is old."), context) == ["Who was Mia Holm?"]


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("What is the Lisbon Stew?", True),
        ("What is the Stew of Lisbon?", True),
        ("Who was Rui Costa?", False),
        ("Who made the Lisbon Stew?", False),
    ],
)
def test_what_was_read_already_needs_no_look_up(question: str, read: bool) -> None:
    assert looks_up_what_was_read(question, kept("Which dish is from Lisbon?", "Stew", MEAL)) is read


@pytest.mark.parametrize(
    ("claim", "questions"),
    [
        ("Open Sea and Gull Rock play rock music.", ["What is Open Sea?", "What is Gull Rock?"]),
        ("Lisbon is where Gull Rock can be found.", ["What is Lisbon?", "What is Gull Rock?"]),
        ("This Gull Network sports analyst is tall.", ["What is Gull Network?"]),
        ("Featuring photographs, the book was written by Rui Costa.", ["Who was Rui Costa?"]),
        ("The stage was shared with Rui Costa an editor.", ["Who was Rui Costa?"]),
        ("It was shown on Gull Rock on May 3.", ["What is Gull Rock?"]),
    ],
)
def test_only_a_noun_that_belongs_to_a_name_is_looked_up_with_it(claim: str, questions: list[str]) -> None:
    """A verb, the first of several nouns, a date and an opening participle are no part of a name."""
    assert name_look_ups(Claim(claim)) == questions
