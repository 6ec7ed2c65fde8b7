"""The five-sentence window of a page that a snippet comes from."""

from __future__ import annotations

import time

from app.modules.answerers.web_documents import MAX_SENTENCE_WORDS, window_for

TEN = [
    f"Sentence {word} tells of {word}ness."
    for word in "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
]
PAGE = " ".join(TEN)


def test_the_window_is_five_whole_sentences() -> None:
    assert window_for(PAGE, TEN[4], "") == " ".join(TEN[2:7])


def test_case_accents_and_punctuation_do_not_matter() -> None:
    """The original compared cased words with lower-cased ones."""
    page = f"{PAGE} Recep Erdoğan said: “It’s OPEN at 10:30 p.m.”, in Ankara."
    assert window_for(page, "RECEP ERDOGAN SAID it's open at 10:30 P.M. In ankara", "") is not None


def test_more_than_seven_words_in_ten_must_match() -> None:
    """Exactly seven are too few, eight are enough."""
    page = "One two three four five six seven eight. And more."
    assert window_for(page, "one two three four five six seven x y z", "") is None
    assert window_for(page, "one two three four five six seven eight x y", "") is not None


def test_a_page_of_fewer_sentences_is_one_window() -> None:
    assert window_for("It opened. It closed.", "it closed", "") == "It opened. It closed."
    assert window_for("", "it closed", "") is None
    assert window_for("", "", "When?") is None


def test_without_a_snippet_the_window_nearest_to_the_question_is_taken() -> None:
    """An empty snippet matches every window, which would cite the middle of the page."""
    assert window_for(PAGE, "", "What is said of kappaness?") == " ".join(TEN[5:])
    assert window_for(PAGE, " ... ", "Who?") == " ".join(TEN[:5])


def test_a_table_without_full_stops_is_split() -> None:
    words = [f"w{number}" for number in range(3_000)]
    window = window_for(" ".join(words), " ".join(words[1_500:1_520]), "")
    assert window is not None
    assert len(window.split()) == 5 * MAX_SENTENCE_WORDS
    assert "w1500 w1501" in window


def test_a_long_page_is_searched_quickly() -> None:
    began = time.process_time()
    assert window_for(PAGE * 6_000, TEN[4], "") is not None
    assert time.process_time() - began < 10
