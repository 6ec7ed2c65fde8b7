"""What a claim compares, and what it says that nothing speaks of, is still to be asked."""

from __future__ import annotations

import pytest

from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Passage, Question, Span
from app.modules.judging.gaps import unanswered_sides, unasked_sides, unmentioned_clauses

GULLS = Passage("Gulls are a Danish band. They released Ferry in 1990.", "Gulls", "test")


def kept(*pairs: tuple[str, str]) -> Context:
    return tuple(
        Hop(
            number, Question(question), Answer(answer, Span(GULLS, 0, 5) if answer == "Gulls" else None), HopStatus.KEPT
        )
        for number, (question, answer) in enumerate(pairs, start=1)
    )


WHICH, WHEN = ("Which band released Ferry?", "Gulls"), ("When was Arendia founded?", "1970")


@pytest.mark.parametrize(
    ("claim", "context", "sides"),
    [
        ("Arendia was founded before Gulls.", kept(WHEN), ("Gulls",)),
        ("Arendia was founded before Gulls.", kept(WHEN, WHICH), ("Gulls",)),
        ("Arendia was founded before Gulls.", kept(WHEN, ("When was Gulls founded?", "1980")), ()),
        ("Arendia is older than the band that released Ferry.", kept(WHICH), ("Arendia", "Gulls")),
        ("Arendia is older than the band that released Ferry.", kept(WHEN), ("the band that released Ferry",)),
        ("Arendia and Gulls are both bands.", kept(("What is Arendia?", "a band")), ("Gulls",)),
        ("Arendia and Gulls are both bands.", kept(("What is Arendia?", "a band"), WHICH), ()),
        ("Both Arendia and Gulls are bands.", kept(("What is Arendia?", "a band")), ("Gulls",)),
        ("Arendia and Gulls are both bands.", kept(("Is Arendia a band?", "Gulls")), ("Gulls",)),
        ("Arendia was founded in Lisbon.", kept(WHICH), ()),
        ("Arendia was named after Gulls.", kept(WHEN), ()),
        ("Ferry is a party. That party and Arendia are both old.", kept(WHEN), ()),
    ],
    ids=[
        "one side",
        "a page is not its date",
        "both sides",
        "a description's answer counts as a side",
        "a description still open",
        "both of two",
        "the page of what both are",
        "one of both, at the beginning",
        "the other side's page, cited for this one",
        "no comparison",
        "after whom it was named",
        "a side that only points back",
    ],
)
def test_a_comparison_has_two_sides_to_ask_about(claim: str, context: Context, sides: tuple[str, ...]) -> None:
    assert unasked_sides(Claim(claim), context) == sides


@pytest.mark.parametrize(
    ("claim", "clauses"),
    [
        ("Gulls released Ferry in 1990 and toured distant islands afterwards.", ("toured distant islands afterwards",)),
        ("Gulls released Ferry. It sold badly everywhere.", ("It sold badly everywhere",)),
        ("Gulls, a Danish band, released Ferry and toured.", ()),
    ],
    ids=["a clause", "a sentence", "a single word"],
)
def test_a_clause_whose_words_stand_nowhere_is_not_looked_into(claim: str, clauses: tuple[str, ...]) -> None:
    assert unmentioned_clauses(Claim(claim), kept(WHICH), [(GULLS.title, GULLS.text)]) == clauses


@pytest.mark.parametrize(
    ("claim", "context", "questions"),
    [
        ("Arendia and Gulls were founded in the same year.", kept(WHEN), ("When was Gulls founded?",)),
        ("Arendia and Gulls were founded in the same year.", kept(WHEN, ("When was Gulls founded?", "1970")), ()),
        (
            "Arendia and Gulls were founded in the same year.",
            kept(WHEN, ("When was Gulls founded?", "a band")),
            ("When was Gulls founded?",),
        ),
        ("Arendia and Gulls were founded in the same year.", kept(("What is Arendia?", "a land")), ()),
        ("Arendia was founded in 1970.", kept(WHEN), ()),
    ],
    ids=["one side", "both sides", "an answer without a year", "asked in other words", "no comparison"],
)
def test_a_side_is_unanswered_where_the_other_was_answered(
    claim: str, context: Context, questions: tuple[str, ...]
) -> None:
    assert unanswered_sides(Claim(claim), context) == questions
