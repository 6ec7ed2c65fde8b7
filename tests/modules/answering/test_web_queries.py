"""What is searched for, letter by letter."""

from __future__ import annotations

import pytest

from app.backends.web_search.registry import PROVIDERS, shorten_query
from app.domain.model import Claim, Question
from app.modules.answerers.web_search import LONG_CHARACTERS, LONG_WORDS, names_query, whole_query


def test_claim_and_question_are_searched_for_as_they_were_typed() -> None:
    """The original stripped what is not ASCII ("Erdoğan" became "Erdoan") and what stands before a colon."""
    claim = Claim("Erdoğan met Путин at 10:30 p.m. in 東京.")
    query = whole_query(claim, Question("Где\nвстретились они?"))
    assert query == "Erdoğan met Путин at 10:30 p.m. in 東京. Где встретились они?"


@pytest.mark.parametrize("claim", ["one word after the other " * 12, "a-word-without-end" * 25])
@pytest.mark.parametrize("engine", PROVIDERS, ids=lambda engine: engine.name)
def test_of_a_long_claim_the_question_is_searched_for_whole(claim: str, engine) -> None:
    """An engine that cuts the query at its limit cuts the claim."""
    question = Question("In which year did the bridge open?")
    query = whole_query(Claim(claim.strip()), question)
    assert sorted(query.split()) == sorted(f"{claim} {question.text}".split())
    assert question.text in shorten_query(query, engine.limits)


def test_a_query_counts_as_long_where_the_first_engine_would_cut_it() -> None:
    assert min(engine.limits.words or LONG_WORDS for engine in PROVIDERS) == LONG_WORDS
    assert min(engine.limits.characters for engine in PROVIDERS) == LONG_CHARACTERS


@pytest.mark.parametrize(
    ("claim", "question", "names"),
    [
        ("Recep Tayyip Erdoğan opened a bridge.", "Which bridge did Erdoğan open?", "Recep Tayyip Erdoğan"),
        ("Путин встретился с Эрдоганом.", "Где встретились Путин и Эрдоган?", "Путин Эрдоганом"),
        ("Η Αθήνα είναι μεγάλη.", "Is Athens large?", "Η Αθήνα Athens"),
        ("Scientists found that Pfizer hid data.", "What did Pfizer hide?", "Pfizer"),
        ("Hundreds of people left Lagos.", "Why did people leave Lagos?", "Lagos"),
        ("The author of “a small thing” lives in Łódź.", "Who lives there?", "small thing Łódź"),
        ("He left. The Nile rose.", "Did the Nile rise?", "Nile"),
        ("Saint-Étienne won in 1976.", "Who won?", "Saint-Étienne 1976"),
    ],
)
def test_names_alone_are_the_second_query(claim: str, question: str, names: str) -> None:
    """A first word that only begins its sentence is none, a name at its head is one, and each comes once."""
    assert names_query(Claim(claim), Question(question)) == names


@pytest.mark.parametrize("claim", ["東京は首都です。", "القاهرة عاصمة مصر", "the moon is made of cheese"])
def test_without_any_name_the_question_is_the_second_query(claim: str) -> None:
    """Many scripts have no capitals; an empty query would find nothing or everything."""
    assert names_query(Claim(claim), Question("what is it?")) == "what is it?"
