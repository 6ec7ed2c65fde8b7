"""Turning evidence into text for the judge: whole sentences, within the window, in order."""

from app.text.sentences import select_sentences, sentences

PASSAGES = [
    ("Everest", "Everest is a mountain. Many climbers try it. It lies in the Himalayas."),
    ("Andes", "The Andes are a range in South America. They are long."),
]


def test_everything_is_kept_in_order_when_it_fits():
    assert select_sentences("Everest lies in the Himalayas", PASSAGES, 125) == [
        "Everest: Everest is a mountain. Many climbers try it. It lies in the Himalayas.",
        "Andes: The Andes are a range in South America. They are long.",
    ]


def test_beyond_the_window_the_sentences_nearest_to_the_claim_are_kept():
    assert select_sentences("Everest lies in the Himalayas", PASSAGES, max_words=9) == [
        "Everest: Everest is a mountain. It lies in the Himalayas."
    ]


def test_a_sentence_longer_than_the_window_is_truncated_and_not_dropped():
    (line,) = select_sentences("word", [("T", "word " * 10_000)], max_words=20)
    assert len(line.split()) == 21


def test_abbreviations_do_not_end_sentences():
    assert sentences("Dr. Smith went to the U.S. in 1909. He was tired.") == [
        "Dr. Smith went to the U.S. in 1909.",
        "He was tired.",
    ]
