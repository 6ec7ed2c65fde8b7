"""Who or what something is: answered by the first sentence of its own article."""

from __future__ import annotations

import pytest

from app.domain.model import Passage
from app.modules.answerers.retriever_reader import definition


def article(title: str, text: str) -> Passage:
    return Passage(text, title, "test")


HUTTON = article(
    "Ida Hutton (director)",
    "Ida Rose Hutton (1 May 1930 – 2 June 1999) was a Scottish director whose films won prizes.",
)
OTHER = article("Ida Hutton Hall", "Ida Hutton Hall is a theatre in Perth.")
RIVER = article("Ebru", "River in Arendia. The Ebru is the longest river of Arendia, and has two mouths.")
ISLAND = article("Arendia", "Arendia is an island primarily located in the north.")


@pytest.mark.parametrize(
    ("question", "passages", "answer", "title"),
    [
        ("Who was Ida Hutton?", (OTHER, HUTTON), "a Scottish director", "Ida Hutton (director)"),
        ("What is the Ebru?", (HUTTON, RIVER), "the longest river of Arendia", "Ebru"),
        ('What is "Ida Hutton Hall"?', (HUTTON, OTHER), "a theatre in Perth", "Ida Hutton Hall"),
        ("What was Arendia?", (ISLAND,), "an island", "Arendia"),
    ],
    ids=["title in brackets", "after a short description", "quoted", "where it lies left out"],
)
def test_what_the_asked_articles_first_sentences_say_it_is_answers_and_is_cited(question, passages, answer, title):
    found = definition(question, passages)
    assert found is not None and found.cited is not None
    assert (found.text, found.cited.text, found.cited.passage.title) == (answer, answer, title)
    assert found.retrieved == passages


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("Who was Ida Stone?", (OTHER, HUTTON)),
        ("Who directed Ida Hutton?", (HUTTON,)),
        ("What is the Ebru?", (article("Ebru", "Fishing on it has long been forbidden."),)),
        ("What is the Ebru?", (article("Ebru", "One. Two. The Ebru is a river."),)),
        ("What is the Ebru?", ()),
    ],
    ids=["another name", "no look-up", "says nothing", "said too late", "nothing retrieved"],
)
def test_anything_else_is_left_to_the_reader(question, passages):
    assert definition(question, passages) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            "It is a large, shallow, freshwater lake in Arendia, and has fish.",
            "a large, shallow, freshwater lake in Arendia",
        ),
        ("It is a 6,000-seat stadium, home of the Gulls.", "a 6,000-seat stadium"),
        ("She is a Danish actress, singer, and writer from Ebru.", "a Danish actress, singer, and writer from Ebru"),
        ("He was a writer, and was born in Ebru.", "a writer"),
        ("It is a village in Ebru, Arendia.", "a village in Ebru"),
        ("It is a film, directed by Ida Hutton.", "a film"),
        ('It is a song from "Stop, When I Say" by Hutton, sung in 1990.', 'a song from "Stop, When I Say" by Hutton'),
        ("It is the sequel to Gull Wars: The River, made in 1990.", "the sequel to Gull Wars: The River"),
    ],
    ids=["adjectives", "a number", "a list", "a verb", "a place", "a participle", "a quoted title", "a title's colon"],
)
def test_a_comma_or_colon_ends_the_answer_only_where_the_phrase_ends(text, answer):
    found = definition("What is Ida?", (article("Ida", text),))
    assert found is not None and found.text == answer
