"""Finding the option that a text begins with: no match inside other words, and no guess."""

from __future__ import annotations

import pytest

from app.text.options import option_in

YES_NO = ("Yes", "No")
LABELS = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE")


@pytest.mark.parametrize(
    ("text", "options", "option"),
    [
        ("Yes", YES_NO, "Yes"),
        (" yes.\n", YES_NO, "Yes"),
        ("**Yes**, we can know.", YES_NO, "Yes"),
        ("- No, more is needed.", YES_NO, "No"),
        ("No\nIt says nothing of his birth.", YES_NO, "No"),
        ("Answer: Yes", YES_NO, "Yes"),
        ("**Final answer:** no", YES_NO, "No"),
        ("Prediction = Yes, we can know", YES_NO, "Yes"),
        ("Yes - it does. No doubt.", YES_NO, "Yes"),
        ("True, as is well known", ("True", "False"), "True"),
        ("Not enough evidence.", LABELS, "NOT_ENOUGH_EVIDENCE"),
        ('"REFUTED"', LABELS, "REFUTED"),
        ("not true", ("true", "not true"), "not true"),
        ("Yes. " + "so it goes " * 1000, YES_NO, "Yes"),
    ],
)
def test_the_option_at_the_start_of_a_text_is_found_in_any_case_and_markup(text, options, option):
    assert option_in(text, options) == option


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "Unknown",
        "I cannot help with that.",
        "Well known",
        "No one knows.",
        "No-one knows.",
        "Nobody",
        "Yes we can",
        "Yes or No",
        "Yes, or no.",
        "Yes/No",
        "Yes, but only if he was born there.",
        "It is known: yes",
        "so it goes " * 1000,
    ],
)
def test_a_text_that_begins_with_no_option_or_with_two_has_none(text):
    assert option_in(text, YES_NO) is None
