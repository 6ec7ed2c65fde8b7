"""Search compares words regardless of case, accents and width, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.wording import folded, search_words


@pytest.mark.parametrize(
    "typed, written",
    [
        ("HAMLET", "Hamlet"),
        ("erdogan", "Erdoğan"),
        ("ERDOĞAN", "erdoğan"),
        ("istanbul", "İstanbul"),
        ("diyarbakir", "Diyarbakır"),
        ("STRASSE", "Straße"),
        ("достоевский", "ДОСТОЕВСКИЙ"),
        ("αθηνα", "ΑΘΉΝΑ"),
        ("οδός", "ΟΔΌΣ"),
        ("1990", "１９９０"),
        ("cafe\u0301", "café"),
        ("محمد", "مُحَمَّد"),
        ("co\u00adoperate", "cooperate"),
        ("東京", "東京"),
    ],
)
def test_a_word_matches_other_spellings_of_itself(typed, written):
    assert folded(typed) == folded(written)


@pytest.mark.parametrize("one, other", [("Hamlet", "Macbeth"), ("1990", "1991"), ("東京", "京都"), ("a b", "ab")])
def test_different_words_do_not_match(one, other):
    assert folded(one) != folded(other)


def test_the_words_of_a_query_are_unique_and_in_order():
    assert search_words("  Hamlet, the HAMLET,\tplay ") == ("hamlet,", "the", "play")
    assert search_words(" \n\u200b") == ()


@given(st.text(alphabet="aäÄßıİéÉσςΣ한글か が", min_size=1), st.text(alphabet="xyz "))
def test_a_word_of_a_text_is_found_in_the_folded_text(word, rest):
    for each in search_words(word):
        assert each in folded(f"{rest} {word}")
