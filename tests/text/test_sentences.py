"""Splitting text into sentences, with full stops inside names, and selecting sentences as evidence."""

from __future__ import annotations

import pytest

from app.text.sentences import select_sentences, sentence_spans, sentences


@pytest.mark.parametrize(
    "whole",
    [
        'The film "The Notorious Mr. Bout" was shown.',
        "Mt. Everest was climbed by Sgt. Pepper and Capt. Hook.",
        "The Rev. Mia Holm met Prof. Ray in St. Louis.",
        "Ludwig wrote Cello Sonata No. 3 in A major, Op. 69.",
        "Arthur W. E. B. Du Bois met J. R. R. Tolkien.",
        "Anton Berg vs. Rui Costa was shown on Nov. 3.",
        "The school where K.S. Babu studied is large.",
        "The work of Smith et al. (2019) shows that vaccines are safe.",
        "Some metals, e.g. Iron, conduct heat; others, i.e. Gold, too.",
        "The tower weighs approx. 300 tons, and rose by 3.5 pct. last year.",
        "Biden said the U.S. Postal Service and the U.S. Supreme Court are slow.",
        "Kaiser Wilhelm II. abdicated in 1918.",
        '"It is over. We won," he said.',
        'He said "We won. It is over" in Paris.',
        "“Covid is a hoax. It is flu,” said Rui Costa.",
        'The headline "Is it true? Yes!" was false.',
        "The law (see Sec. 5. It is long) was passed.",
        "Texas Gov. Greg Abbott met Sen. Bernie Sanders (I-Vt.) and Rep. Ada Holm (D-N.Y.).",
        "The Ph.D. Program of Acme Corp. began on 3 Dec. 1990.",
        "He lived circa 300 B.C. in Rome.",
        "It is in ../../etc/passwd or in a.b/c.",
        "E. coli lives in the gut.",
        "It is on p. 5 and pp. 7-9, cf. Smith 2009.",
        "It costs $5.50 per kg in version 2.0 of the list.",
        "The movie Who Framed Roger Rabbit? was made in 1988.",
        "N.W.A. released it with Panic! at the Disco.",
        "The office moved to Pine Cir. near Albany and Oak Blvd. in Reno.",
        "The board has posts in non-govt. aided colleges.",
        "The house costs approx. $1.5 bn. in Rm. 5, and has incl. Rep. Smith four owners.",
        "Lieut. Cmdr. Data left.",
        "Mix it, and -- voila! -- you have cake.",
    ],
)
def test_a_full_stop_inside_a_name_does_not_end_a_sentence(whole: str) -> None:
    assert sentences(whole) == [whole]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("He lives in the U.S.", "He was born there."),
        ("She wrote for N.W.A.", "It was heard."),
        ("Is it big?", "It is."),
        ("It fell!", "Nobody saw it."),
        ("Martin Luther King Jr.", "He was good."),
        ("She said no.", "Ten others agreed."),
        ("He moved to St. Louis.", "It is big."),
        ("It has vitamin C.", "It is healthy."),
        ("He got a Ph.D.", "His wife did too."),
        ("It opened at 5 p.m.", "Nobody came."),
        ("They sold shoes, hats, etc.", "The shop closed."),
        ("He said “We won.”", "Then he left."),
        ("It hit No. 1.", "Then it fell."),
        ("he lives in Bonn.", "it is big."),
        ("(It was done.)", "Then it was not."),
        ("The cat sat…", "The dog ran."),
        ("Henry VIII was king of the U.K.", "He died."),
    ],
)
def test_two_sentences_are_split(first: str, second: str) -> None:
    text = f"{first}  {second}"
    assert sentences(text) == [first, second]
    assert [text[start:end] for start, end in sentence_spans(text)] == [first, second]


def test_a_text_without_an_end_is_one_sentence() -> None:
    text = "wow! and " * 20_000
    assert sentences(text) == [text.strip()]


def test_a_missing_space_does_not_join_two_sentences() -> None:
    found = sentences("Paris is in France.Berlin is in Germany. See Node.js and example.com.")
    assert found == ["Paris is in France.", "Berlin is in Germany.", "See Node.js and example.com."]


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
