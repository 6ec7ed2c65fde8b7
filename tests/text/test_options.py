"""Finding the option that a text begins with: no match inside other words, and no guess."""

from __future__ import annotations

import pytest

from app.text.options import is_no_answer, option_in, with_plain_citations

YES_NO = ("Yes", "No")
LABELS = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE")


@pytest.mark.parametrize(
    ("text", "options", "option"),
    [
        (" yes.\n", YES_NO, "Yes"),
        ("**Yes**, we can know.", YES_NO, "Yes"),
        ("- No, more is needed.", YES_NO, "No"),
        ("Answer: Yes", YES_NO, "Yes"),
        ("Prediction = Yes, we can know", YES_NO, "Yes"),
        ("Yes - it does. No doubt.", YES_NO, "Yes"),
        ("Not enough evidence.", LABELS, "NOT_ENOUGH_EVIDENCE"),
        ('"REFUTED"', LABELS, "REFUTED"),
        ("not true", ("true", "not true"), "not true"),
    ],
)
def test_the_option_at_the_start_of_a_text_is_found_in_any_case_and_markup(text, options, option):
    assert option_in(text, options) == option


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Unknown",
        "No one knows.",
        "Yes we can",
        "Yes, or no.",
        "Yes/No",
        "Yes, but only if he was born there.",
        "It is known: yes",
    ],
)
def test_a_text_that_begins_with_no_option_or_with_two_has_none(text):
    assert option_in(text, YES_NO) is None


@pytest.mark.parametrize(
    "text",
    [
        "It's not mentioned in the passage.",
        "The document says nothing about his birth.",
        "There isn't any information about this.",
        "Insufficient information.",
        "Unable to determine.",
        "Not sure",
        "This question cannot be answered from the given context.",
        "N/A",
        "Information not found",
        "Sorry, the passage doesn't say.",
        "According to the passage, it is not known.",
        "Neither document mentions it.",
        "Neither document mentions his death.",
        "None of the documents states the year.",
        "No passage gives his place of birth.",
        "Based on the information provided, it is not possible to determine the year.",
        "It's impossible to tell from the text.",
        "Documents 1, 2, and 3 do not mention the height of the tower.",
        "The height is not mentioned in Document 2.",
        "The articles make no reference to his wife.",
        "According to the documents, there is no information on this topic.",
        "There's nothing in the passages about his salary.",
        "I am unable to find the birth date in the given passages.",
        "Sorry, but the context doesn't give the number of inhabitants.",
        "This is not something the passages discuss.",
        "I don't have that information.",
        "The passage makes no mention of it.",
        "No specific date is given in the text.",
        "I do not see this in the text.",
        "As a language model, I do not know.",
        "I must respectfully decline.",
        "Assistant: I cannot comply with your request.",
        "I apologize, but I cannot answer this question.",
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
        "No",
        "Nothing",
        "He did not say that he was a spy",
        "The results were not known until 1950",
        "The prize was not given in 1940",
        "no more than 10",
        "It was not included in the 1990 edition",
        "The source of the Nile was unknown to Europeans until 1858",
        "He could not find work in Paris",
        "As an AI engineer, she built systems",
        "He refused to sign",
        "No man is an island",
        "None of his documents survive",
        "It was not possible to find the body",
        "No evidence of life on Mars has been found",
        "Impossible",
        "But not in Norway",
        "Not until 1971",
        "It was impossible to tell the twins apart",
        "Unable to fly",
        "There is nothing in the world like it",
        "The prize was not given",
    ],
)
def test_an_answer_with_such_words_is_an_answer(text):
    assert not is_no_answer(text)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It was so【1†source】.", "It was so [1]."),
        ("It was so【3:1†report.pdf】.", "It was so."),
        ("It was so[^2].", "It was so [2]."),
        ("It was so [Answer 1].", "It was so [1]."),
        ("It was so (Answer 2).", "It was so [2]."),
        ("It was so [[1], [2]].", "It was so [1], [2]."),
        ("It was so [1-3].", "It was so [1, 2, 3]."),
        ("It was so [1, p. 2], or [2, pp. 3-4].", "It was so [1], or [2]."),
        ("It was so <cite>tu_2025</cite>.", "It was so."),
        ("It was so [@shoe85]\\cite{a}.", "It was so."),
        ("It was so.¹ Then", "It was so. [1] Then"),
        ("It was so [1](https://a.test/b).", "It was so [1]."),
        ("See [the page](https://a.test/b).", "See the page."),
        ("It was so (https://a.test/b).", "It was so."),
        ("In [1990] it had 10² [sic] (2) of [a]", "In [1990] it had 10² [sic] (2) of [a]"),
    ],
)
def test_a_citation_of_any_style_becomes_a_number_in_brackets_and_addresses_are_dropped(text, plain):
    assert " ".join(with_plain_citations(text).split()).replace(" .", ".") == plain
