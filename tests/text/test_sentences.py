"""Where a sentence ends, and where a full stop belongs to a name."""

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
def test_a_mark_inside_a_name_ends_no_sentence(whole: str) -> None:
    """Titles, numbers, initials and a name's own mark do not cut a sentence in two."""
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
def test_two_sentences_stay_two(first: str, second: str) -> None:
    """What ends a sentence still does, and the spans are those of the text."""
    text = f"{first}  {second}"
    assert sentences(text) == [first, second]
    assert [text[start:end] for start, end in sentence_spans(text)] == [first, second]


def test_an_endless_sentence_takes_no_longer_for_having_many_ends_inside() -> None:
    """A page may be written to hold a check up."""
    text = "wow! and " * 20_000
    began = time.process_time()
    assert sentences(text) == [text.strip()]
    assert time.process_time() - began < 60, "it takes 1 s, and minutes where each end looks at all before it"


def test_a_text_is_taken_apart_however_long_that_takes_on_a_busy_machine() -> None:
    """NLTK's own limit counts what every thread computes, so it would end checks beside which others run."""
    sentences("It is loaded.")
    assert redos.DEFAULT_TIMEOUT is None
