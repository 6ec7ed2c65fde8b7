"""The exact search queries for a claim and a question."""

from __future__ import annotations

import pytest

from app.backends.web_search.registry import PROVIDERS, shorten_query
from app.domain.model import Claim, Question
from app.modules.answerers.web_search import MAX_QUERY_LENGTH, MAX_QUERY_WORDS, names_query, whole_query


def test_claim_and_question_are_searched_verbatim() -> None:
    """The original removed non-ASCII letters ("Erdoğan" became "Erdoan") and any text before a colon."""
    claim = Claim("Erdoğan met Путин at 10:30 p.m. in 東京.")
    query = whole_query(claim, Question("Где\nвстретились они?"))
    assert query == "Erdoğan met Путин at 10:30 p.m. in 東京. Где встретились они?"


@pytest.mark.parametrize("claim", ["one word after the other " * 12, "a-word-without-end" * 25])
@pytest.mark.parametrize("engine", PROVIDERS, ids=lambda engine: engine.name)
def test_a_long_claim_does_not_truncate_the_question(claim: str, engine) -> None:
    question = Question("In which year did the bridge open?")
    query = whole_query(Claim(claim.strip()), question)
    assert sorted(query.split()) == sorted(f"{claim} {question.text}".split())
    assert question.text in shorten_query(query, engine.limits)


def test_the_length_limit_is_that_of_the_first_engine() -> None:
    assert min(engine.limits.words or MAX_QUERY_WORDS for engine in PROVIDERS) == MAX_QUERY_WORDS
    assert min(engine.limits.characters for engine in PROVIDERS) == MAX_QUERY_LENGTH


@pytest.mark.parametrize(
    ("claim", "question", "names"),
    [
        ("Recep Tayyip Erdoğan opened a bridge.", "Which bridge did Erdoğan open?", "Recep Tayyip Erdoğan"),
        ("Путин встретился с Эрдоганом.", "Где встретились Путин и Эрдоган?", "Путин Эрдоганом Эрдоган"),
        ("Η Αθήνα είναι μεγάλη.", "Is Athens large?", "Η Αθήνα Athens"),
        ("Scientists found that Pfizer hid data.", "What did Pfizer hide?", "Pfizer"),
        ("Hundreds of people left Lagos.", "Why did people leave Lagos?", "Lagos"),
        ("The author of “a small thing” lives in Łódź.", "Who lives there?", "small thing Łódź"),
        ("He left. The Nile rose.", "Did the Nile rise?", "Nile"),
        ("Saint-Étienne won in 1976.", "Who won?", "Saint-Étienne 1976"),
        ("Niger borders Nigeria.", "Nigeria has a border with Niger, right?", "Niger Nigeria"),
        ("It has a long border.", "Nigeria borders Niger?", "Niger"),
    ],
)
def test_the_second_query_consists_of_names(claim: str, question: str, names: str) -> None:
    """A capitalized first word alone is not a name, a name at the start of a sentence is, and each is listed once.

    A name that is part of another word, as Niger is of Nigeria, is listed.
    """
    assert names_query(Claim(claim), Question(question)) == names


@pytest.mark.parametrize("claim", ["東京は首都です。", "القاهرة عاصمة مصر", "the moon is made of cheese"])
def test_without_names_the_question_is_the_second_query(claim: str) -> None:
    """Many scripts have no capitals; an empty query would find nothing or everything."""
    assert names_query(Claim(claim), Question("what is it?")) == "what is it?"
