"""Splitting text into sentences, with full stops inside names."""

from __future__ import annotations

import time

import pytest
from nltk import redos

from app.text.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    "whole",
    [
        'The film "The Notorious Mr. Bout" was shown.',
        "Mt. Everest was climbed by Sgt. Pepper and Capt. Hook.",
        "The Rev. Mia Holm met Prof. Ray in St. Louis.",
        "Ludwig wrote Cello Sonata No. 3 in A major, Op. 69.",
        "Arthur W. E. B. Du Bois met J. R. R. Tolkien.",
        "Anton Berg vs. Rui Costa was shown on Nov. 3.",
        "The school where K.S. Babu studied is large.",
        "N.W.A. released it with Panic! at the Disco.",
    ],
)
def test_a_full_stop_inside_a_name_does_not_end_a_sentence(whole: str) -> None:
    """Titles, numbers, initials and punctuation in names."""
    assert sentences(whole) == [whole]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("He lives in the U.S.", "He was born there."),
        ("She wrote for N.W.A.", "It was heard."),
        ("Is it big?", "It is."),
        ("It fell!", "Nobody saw it."),
        ("Martin Luther King Jr.", "He was good."),
        ("She said no.", "Ten others agreed."),
        ("He moved to St. Louis.", "It is big."),
    ],
)
def test_two_sentences_are_split(first: str, second: str) -> None:
    """The spans are those of the text."""
    text = f"{first}  {second}"
    assert sentences(text) == [first, second]
    assert [text[start:end] for start, end in sentence_spans(text)] == [first, second]


def test_many_possible_ends_in_an_endless_sentence_do_not_slow_splitting() -> None:
    """A page could be written to delay a check."""
    text = "wow! and " * 20_000
    began = time.process_time()
    assert sentences(text) == [text.strip()]
    assert time.process_time() - began < 60, "it takes 1 s, and minutes where each end looks at all before it"


def test_splitting_has_no_time_limit_of_its_own() -> None:
    """NLTK's limit counts the time of all threads, so it would fail under load."""
    sentences("It is loaded.")
    assert redos.DEFAULT_TIMEOUT is None
