"""Turning evidence into text for the judge: whole sentences, within the window, in order."""

import pytest

from app.text.sentences import select_sentences, sentences

TEXT = "Everest is a mountain. Many climbers try it. It lies in the Himalayas."


@pytest.mark.parametrize(
    ("text", "max_words", "line"),
    [
        (TEXT, 125, f"Everest: {TEXT}"),
        (TEXT, 9, "Everest: Everest is a mountain. It lies in the Himalayas."),
        ("word " * 10_000, 20, f"Everest: {'word ' * 20}".strip()),
        ("", 9, ""),
    ],
)
def test_the_sentences_nearest_to_the_claim_are_kept_whole_as_far_as_they_fit(text, max_words, line):
    assert select_sentences("Everest lies in the Himalayas", "Everest", text, max_words) == line


def test_abbreviations_do_not_end_sentences():
    assert sentences("Dr. Smith went to the U.S. in 1909. He was tired.") == [
        "Dr. Smith went to the U.S. in 1909.",
        "He was tired.",
    ]
