"""Splitting documents into passages: where passages end, and that no word is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.backends.corpus.formats import passages_of, title_and_text
from app.text.clean import clean_line

SENTENCE = "The river flows through nine old towns to the sea. "


def lengths(passages) -> list[int]:
    return [len(passage.split()) for passage in passages]


def test_passages_of_running_text_are_about_a_hundred_words_and_end_with_a_sentence():
    passages = list(passages_of([SENTENCE * 60]))
    assert lengths(passages) == [100] * 6
    assert all(passage.endswith("sea.") for passage in passages)


def test_a_passage_ends_at_the_sentence_end_nearest_to_a_hundred_words():
    text = "Short one here. " * 30 + "This " + "very " * 40 + "long one. " + "Short one here. " * 30
    first = next(passages_of([text]))
    assert first.endswith("Short one here.")
    assert len(first.split()) == 90


def test_a_passage_may_end_at_a_paragraph_without_a_full_stop():
    items = [f"item {number} of a list without any full stop" for number in range(40)]
    assert all(passage.endswith("stop") for passage in passages_of(items))


def test_an_endless_sentence_is_cut_between_words():
    assert lengths(passages_of(["word " * 330])) == [100, 100, 130]


def test_a_long_run_without_spaces_is_cut():
    (passage,) = passages_of(["長" * 1000])
    assert lengths([passage]) == [5]
    assert passage.replace(" ", "") == "長" * 1000


@pytest.mark.parametrize("paragraphs", [[], [""], ["  \n ", "\x00"], ["\ufeff"]])
def test_a_text_without_words_has_no_passages(paragraphs):
    assert list(passages_of(paragraphs)) == []


@given(st.lists(st.text(max_size=400), max_size=6), st.integers(2, 30))
def test_passages_keep_every_word_in_order_and_are_bounded_in_length(paragraphs, words):
    passages = list(passages_of(paragraphs, words))
    whole = " ".join(filter(None, map(clean_line, paragraphs)))
    assert "".join(passages).replace(" ", "") == whole.replace(" ", "")
    assert all(0 < length <= max(words * 3 // 2, 2) for length in lengths(passages))


@pytest.mark.parametrize(
    ("title", "contents", "expected"),
    [
        ("", "Nairobi\nNairobi is a city.", ("Nairobi", "Nairobi is a city.")),
        ("", '"Nairobi"\nNairobi is a city.', ("Nairobi", "Nairobi is a city.")),
        ("Nairobi", "Nairobi\nIt is a city.", ("Nairobi", "It is a city.")),
        ("Nairobi", "It is a city.\nIt is large.", ("Nairobi", "It is a city.\nIt is large.")),
        ("", "It is a city.", ("", "It is a city.")),
        ("", "Only a line\n", ("", "Only a line\n")),
    ],
)
def test_the_first_line_is_the_title_when_no_other_is_given_or_it_repeats_the_title(title, contents, expected):
    assert title_and_text(title, contents) == expected
