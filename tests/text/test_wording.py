"""Comparing questions by meaning, finding names by their capitals, and searching words in any spelling and script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.wording import expected_answer_type, folded, names, same_question, search_words


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who wrote Emma?", "who wrote  emma ?"),
        ("Who wrote Emma?", "Who is the author of Emma?"),
        ("Where was Frida Kahlo born?", "In which city was Frida Kahlo born?"),
        ("What is the capital of Chad?", "What's the capital of Chad?"),
    ],
)
def test_paraphrases_are_the_same_question(one: str, other: str) -> None:
    """Case, spacing, synonyms of a relation and the noun for a place do not matter."""
    assert same_question(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Where was Frida Kahlo born?", "When was Frida Kahlo born?"),
        ("Where was Frida Kahlo born?", "Where was Diego Rivera born?"),
        ("Who wrote Emma?", "Who directed Emma?"),
        ("Where was Frida Kahlo born?", "Where did Frida Kahlo die?"),
    ],
)
def test_another_kind_subject_or_relation_is_another_question(one: str, other: str) -> None:
    """Similar spelling is not similar meaning."""
    assert not same_question(one, other)


def test_names_keep_inner_small_words_and_drop_a_leading_article() -> None:
    text = "The author of The Lord of the Rings met W. H. Auden and Gabriel García Márquez's wife in Łódź."
    assert names(text) == ("Lord of the Rings", "W. H. Auden", "Gabriel García Márquez", "Łódź")


def test_a_yes_no_question_has_no_kind() -> None:
    assert expected_answer_type("Was Frida Kahlo born in Mexico?") == ""
    assert expected_answer_type("In which year did it begin?") == "time"


def test_an_abbreviation_inside_a_name_does_not_end_it() -> None:
    """As in "Mr. Bout" and "St. Louis"."""
    assert names("Rui Costa as Mr. Bout met Sgt. Pepper in St. Louis.") == (
        "Rui Costa",
        "Mr. Bout",
        "Sgt. Pepper",
        "St. Louis",
    )
