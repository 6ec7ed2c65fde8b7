"""Model text is parsed as a question, an answer, a label, a rationale, or an error; nothing is guessed."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import UnparseableOutput
from app.domain.model import Label, LabelSet, Question, Sentence
from app.modules.output_parsing import (
    MAX_QUESTION_WORDS,
    MAX_RATIONALE_WORDS,
    answer_from,
    label_from,
    passage_from,
    question_from,
    rationale_from,
)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (" Who wrote Emma?", "Who wrote Emma?"),
        ("who wrote   Emma?\nQuestion 2 = Why?", "Who wrote Emma?"),
        ('\n "Who wrote Emma?"', "Who wrote Emma?"),
        ("When did it begin: at 10:30 p.m.?", "When did it begin: at 10:30 p.m.?"),
        ("Who is he? Who is she?", "Who is he?"),
    ],
)
def test_the_first_question_is_taken_verbatim(text: str, question: str) -> None:
    """White space, quotes and later questions are dropped; letters, colons and digits are kept."""
    assert question_from(text) == Question(question)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Jane Austen",
        "?",
        "Why " + "so " * MAX_QUESTION_WORDS + "?",
    ],
)
def test_text_without_a_whole_question_is_unparseable(text: str) -> None:
    with pytest.raises(UnparseableOutput):
        question_from(text)


def test_a_repeated_prompt_format_is_removed_from_the_question() -> None:
    for written in ("**Question 2 =** Who wrote Emma?", "### Question: Who wrote Emma?", "1. **Who wrote Emma?**"):
        assert question_from(written) == Question("Who wrote Emma?")


THREE = LabelSet.THREE.labels


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**True**", Label.SUPPORTED),
        ("True, as is well known", Label.SUPPORTED),
        ("It was true of others.\nLabel: **False**.", Label.REFUTED),
        ("She was born in Hampshire [1]. Therefore, the final answer is: false.", Label.REFUTED),
        ("Label = not enough information", Label.NOT_ENOUGH_EVIDENCE),
        ("**Label:** `NOT_ENOUGH_EVIDENCE`", Label.NOT_ENOUGH_EVIDENCE),
        ("### Final answer: __True__", Label.SUPPORTED),
        ("It was so [1].\nVerdict — False", Label.REFUTED),
        ("Rating: False", Label.REFUTED),
        ("It was so [1].\nIt's true.", Label.SUPPORTED),
        ("The statement is false.", Label.REFUTED),
        ("The claim is refuted by the evidence.", Label.REFUTED),
        ("The claim cannot be verified.", Label.NOT_ENOUGH_EVIDENCE),
    ],
)
def test_the_label_is_read_from_the_last_line(text: str, label: Label) -> None:
    """At the start of the line or as its last sentence; markup and text after a comma do not matter."""
    assert label_from(text, THREE)[0] is label


@pytest.mark.parametrize(
    "text",
    [
        "",
        "**Yes**, we can know.",
        "The claim is not true.",
        "Untrue",
        "True or false",
        "true, if the date is right",
        "I'm sorry, I can't help with that",
    ],
)
def test_a_last_line_that_only_contains_a_label_inside_other_words_names_none(text: str) -> None:
    with pytest.raises(UnparseableOutput):
        label_from(text, THREE)


def test_a_rationale_cites_existing_hops_only() -> None:
    sentences, missing = rationale_from(
        "Rationale = Emma is by Jane Austen [1]. She was born in Steventon. [3] It lies in Hampshire [3, 9].\n"
        "Missing = When she died.\n",
        (1, 3),
    )
    assert sentences == (
        Sentence("Emma is by Jane Austen.", (1,)),
        Sentence("She was born in Steventon.", (3,)),
        Sentence("It lies in Hampshire.", (3,)),
    )
    assert missing == "When she died."


def test_a_very_long_rationale_is_truncated_and_a_refusal_is_dropped() -> None:
    sentences, _ = rationale_from("It was so [1]. " * 1_000, (1,))
    assert sum(len(sentence.text.split()) for sentence in sentences) <= MAX_RATIONALE_WORDS
    assert sentences[0] == Sentence("It was so.", (1,)) and sentences[-1].text.endswith(" …")
    assert rationale_from("I'm sorry, I can't help with that.", (1,)) == ((), None)
    assert rationale_from("", (1,)) == ((), None)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer = **Jane Austen**.", "Jane Austen"),
        ("Unknown Pleasures", "Unknown Pleasures"),
        ("I Can't Get No Satisfaction", "I Can't Get No Satisfaction"),
        ("Sorry, Wrong Number", "Sorry, Wrong Number"),
        ("I don't know.", None),
        ("You Don't Know Jack", "You Don't Know Jack"),
        ("I am not sure, maybe Paris", None),
        ("I’m unable to answer this.", None),
        ("", None),
    ],
)
def test_statements_of_not_knowing_are_no_answer_but_similar_titles_are(text: str, answer: str | None) -> None:
    """A whole line that says nothing is known, or a refusal; never words inside a name."""
    assert answer_from(text) == answer


def test_a_recited_passage_is_cut_to_whole_sentences_within_its_limit() -> None:
    assert passage_from("Passage = Emma is a novel. It is by Jane", 50) == "Emma is a novel."
    assert passage_from("Emma is a novel. It was published in 1815.", 5) == "Emma is a novel."
    assert len((passage_from("word " * 3_000, 50) or "").split()) == 50
    assert passage_from("I don't know.", 50) is None
    assert passage_from("", 50) is None


TEXTS = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            ["true", "false", "[1]", f"[{'9' * 5_000}]", "Label =", "\n", ".", "?", "**", "Missing =", "I'm sorry"]
        ),
        max_size=12,
    ).map(" ".join),
)


@given(TEXTS)
def test_any_text_can_be_parsed(text: str) -> None:
    """The result is a value or UnparseableOutput, and only existing hops are cited."""
    sentences, _ = rationale_from(text, (1, 3))
    assert all(set(sentence.hops) <= {1, 3} and sentence.text.strip() for sentence in sentences)
    passage = passage_from(text, 5)
    assert passage is None or 1 <= len(passage.split()) <= 5
    for read in (question_from, answer_from, lambda written: label_from(written, THREE)):
        with suppress(UnparseableOutput):
            read(text)
