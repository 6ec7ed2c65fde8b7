"""Comparing questions by meaning, and finding names by their capitals."""

from __future__ import annotations

import pytest

from app.text.wording import expected_answer_type, names, same_question


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
