"""Order and size of two answers are computed when the answers are comparable."""

from __future__ import annotations

import pytest

from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question, Span
from app.modules.answer_comparison import compare_answers

BORN = (("When was Charles Darwin born?", "1809"), ("When was Albert Einstein born?", "14 March 1879"))
PEOPLE = (("How many people live in Medellín?", "2.5 million"), ("How many people live in Vojvodina?", "1,740,230"))
FOUNDED = (("When was Rome founded?", "753 BC"), ("When was Vienna founded?", "15 BC"))


def context_of(pairs) -> tuple[Hop, ...]:
    return tuple(Hop(at, Question(q), Answer(a), HopStatus.KEPT) for at, (q, a) in enumerate(pairs, 1))


@pytest.mark.parametrize(
    ("claim", "pairs", "holds"),
    [
        ("Charles Darwin was born before Albert Einstein.", BORN, True),
        ("Albert Einstein was born before Charles Darwin.", BORN, False),
        ("Albert Einstein is younger than Charles Darwin.", BORN, None),
        ("More people live in Medellín than in Vojvodina.", PEOPLE, True),
        ("Medellín has more people than Vojvodina.", PEOPLE, True),
        ("Vojvodina is bigger than Medellín.", PEOPLE, False),
        ("More than half of the people of Medellín live in Vojvodina.", PEOPLE, None),
        ("Rome was founded before Vienna.", FOUNDED, True),
        ("Charles Darwin was born more than 100 years before Albert Einstein.", BORN, None),
        ("Medellín has twice as many people as Vojvodina, or more than that.", PEOPLE, None),
        (
            "Charles Darwin was born before Albert Einstein.",
            [(q.replace("When", "What year"), a) for q, a in BORN],
            True,
        ),
        (
            "Albert Einstein lived to be older than Charles Darwin.",
            [("When did Albert Einstein die?", "1955"), ("When did Charles Darwin die?", "1882")],
            None,
        ),
        ("Charles Darwin was not born before Albert Einstein.", BORN, None),
        ("Charles Darwin and Albert Einstein were scientists.", BORN, None),
        ("Charles Darwin was born before Isaac Newton.", BORN, None),
    ],
)
def test_the_order_of_two_values_is_compared_with_the_claim(claim, pairs, holds) -> None:
    found = compare_answers(Claim(claim), context_of(pairs))
    assert (found.holds if found else None) is holds


@pytest.mark.parametrize(
    "other",
    [
        ("Where was Albert Einstein born?", "Ulm, in 1879"),
        ("When did Albert Einstein die?", "1955"),
        ("When was Albert Einstein born?", "not long before the war"),
        ("When was Albert Einstein born?", "1809"),
    ],
    ids=["another relation", "another event", "no value", "the same value"],
)
def test_values_of_different_kinds_or_missing_values_are_not_compared(other) -> None:
    assert (
        compare_answers(Claim("Charles Darwin was born before Albert Einstein."), context_of((BORN[0], other))) is None
    )


@pytest.mark.parametrize(
    ("plato", "aristotle", "holds"),
    [
        ("428/427 – 348/347 BC", "384–322 BC", True),
        ("427 B.C.", "384 B.C.E.", True),
        ("427 BC", "about 2,300 years ago", None),
        ("427 BC", "some 500 years ago", None),
    ],
)
def test_years_before_the_common_era_are_negative_and_numbers_of_years_are_no_years(plato, aristotle, holds) -> None:
    lived = (("When was Plato born?", plato), ("When was Aristotle born?", aristotle))
    found = compare_answers(Claim("Plato was born before Aristotle."), context_of(lived))
    assert (found.holds if found else None) is holds


def test_an_era_that_follows_the_answer_in_its_passage_counts() -> None:
    def lived(number: int, name: str, text: str, answer: str) -> Hop:
        passage = Passage(text, name, "")
        at = text.index(answer)
        cited = Span(passage, at, at + len(answer))
        return Hop(number, Question(f"When was {name} born?"), Answer(answer, cited), HopStatus.KEPT)

    aristotle = lived(1, "Aristotle", "Greek philosopher (384–322 BC).", "384")
    plato = lived(2, "Plato", "Greek philosopher (c. 428 BC).", "428")
    found = compare_answers(Claim("Aristotle was born before Plato."), (aristotle, plato))
    assert found is not None and not found.holds
    assert str(found.sentence.text) == "384–322 BC is after 428 BC."


def test_amounts_of_different_units_are_not_compared() -> None:
    heights = (("How high is Kilimanjaro?", "5,895 metres"), ("How high is Denali?", "20,310 feet"))
    assert compare_answers(Claim("Kilimanjaro is higher than Denali."), context_of(heights)) is None


def test_the_comparison_cites_its_hops() -> None:
    found = compare_answers(Claim("Albert Einstein was born before Charles Darwin."), context_of(BORN))
    assert (str(found.sentence.text), found.sentence.hops) == ("14 March 1879 is after 1809.", (1, 2))
