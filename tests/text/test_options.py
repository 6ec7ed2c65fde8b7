"""Finding the option that a text begins with: no match inside other words, and no guess."""

from __future__ import annotations

import pytest

from app.text.options import is_no_answer, option_in, with_plain_citations

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
        "Yes we can",
        "Yes, or no.",
        "Yes/No",
        "Yes, but only if he was born there.",
        "It is known: yes",
        "so it goes " * 1000,
    ],
)
def test_a_text_that_begins_with_no_option_or_with_two_has_none(text):
    assert option_in(text, YES_NO) is None


@pytest.mark.parametrize(
    "text",
    [
        "It's not mentioned in the passage.",
        "Not applicable",
        "The document says nothing about his birth.",
        "The exact date of his birth is not mentioned in the passage.",
        "There isn't any information about this.",
        "Insufficient information.",
        "The passage is silent on this.",
        "Unable to determine.",
        "I have no idea.",
        "Not sure",
        "Not in the text",
        "The passage doesn't contain an answer to that",
        "This question cannot be answered from the given context.",
        "It is unknown when he was born.",
        "N/A",
        "null",
        "None",
        "Not available.",
        "The context does not provide specific information regarding his birth.",
        "Information not found",
        "I could not find an answer.",
        "Sorry, the passage doesn't say.",
        "According to the passage, it is not known.",
        "The text doesn't say who wrote it.",
        "Nothing is said about that.",
        "The passage does not include details on his family",
        "Neither document mentions it.",
        "It isn't clear from the passage",
        "This is not covered in the article",
        "I don't have that information.",
        "Not disclosed",
    ],
)
def test_a_statement_that_there_is_no_answer_is_recognised_in_any_common_wording(text):
    assert is_no_answer(text) and is_no_answer(f"**{text.upper()}**")


@pytest.mark.parametrize(
    "text",
    [
        "Unknown Pleasures",
        "I Can't Get No Satisfaction",
        "Sorry, Wrong Number",
        "You Don't Know Jack",
        "No",
        "Nothing",
        "No Country for Old Men",
        "He did not say that he was a spy",
        "The results were not known until 1950",
        "Not the Nine O'Clock News",
        "The prize was not given in 1940",
        "1815",
        "no more than 10",
        "Missing",
        "No Time to Die",
        "It was not included in the 1990 edition",
        "The source of the Nile was unknown to Europeans until 1858",
        "Nothing Compares 2 U",
        "He could not find work in Paris",
        "The Man Who Knew Too Much",
        "He was never told about the war",
    ],
)
def test_an_answer_with_such_words_is_an_answer(text):
    assert not is_no_answer(text)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It was so [2].", "It was so [2]."),
        ("It was so【1†source】.", "It was so [1]."),
        ("It was so【3:1†report.pdf】.", "It was so."),
        ("It was so[^2].", "It was so [2]."),
        ("It was so [Answer 1].", "It was so [1]."),
        ("It was so (Answer 2).", "It was so [2]."),
        ("It was so [[1]].", "It was so [1]."),
        ("It was so [[1], [2]].", "It was so [1], [2]."),
        ("It was so [1-3].", "It was so [1, 2, 3]."),
        ("It was so.¹ Then", "It was so. [1] Then"),
        ("It was so [1](https://a.test/b).", "It was so [1]."),
        ("See [the page](https://a.test/b).", "See the page."),
        ("It was so (https://a.test/b).", "It was so."),
        ("It was so: https://a.test/b", "It was so:"),
        ("In [1990] it had 10² [sic] (2) of [a]", "In [1990] it had 10² [sic] (2) of [a]"),
    ],
)
def test_a_citation_of_any_style_becomes_a_number_in_brackets_and_addresses_are_dropped(text, plain):
    assert " ".join(with_plain_citations(text).split()).replace(" .", ".") == plain
