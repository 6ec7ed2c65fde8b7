"""Comparing runs of one claim: hops that share a row, the order of rows, and shared pages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.comparison import pages, rows
from app.domain.model import Answer, Claim, Hop, Question, RunOptions, Span
from app.domain.report import Report
from tests.fakes import answer, passage

CLAIM = Claim("Hamlet's author was born in England.")


def asked(*questions: str) -> Report:
    """Return a run that asked these questions, in this order."""
    hops = tuple(Hop(number, Question(text)) for number, text in enumerate(questions, 1))
    return Report(CLAIM, RunOptions(), hops)


def answered(*answers: Answer | None) -> Report:
    """Return a run whose hops have these answers."""
    hops = tuple(Hop(number, Question(f"Question {number}?"), each) for number, each in enumerate(answers, 1))
    return Report(CLAIM, RunOptions(), hops)


def table(*reports: Report) -> list[tuple[str, ...]]:
    """Return the rows as texts: a question, then the hop number in each run, "-" for none."""
    return [
        (row.question, *("-" if hop is None else str(hop.number) for hop in row.hops)) for row in rows(list(reports))
    ]


def test_the_same_question_is_one_row_whatever_its_hop_number():
    found = table(asked("Who wrote Hamlet?", "Where was he born?"), asked("Is it a play?", "Who wrote Hamlet?"))
    assert ("Who wrote Hamlet?", "1", "2") in found and len(found) == 3


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("Who wrote Hamlet?", "who wrote HAMLET", True),
        ("Where was Shakespeare born?", "Where was William Shakespeare born?", True),
        ("Where was Shakespeare born?", "When was Shakespeare born?", False),
        ("Who wrote Hamlet?", "Who wrote Hamlet after a play by Thomas Kyd?", False),
        ("谁写了哈姆雷特？", "谁写了哈姆雷特", True),
        ("?", "!", False),
    ],
)
def test_questions_that_differ_little_share_a_row(one, other, shared):
    assert (len(table(asked(one), asked(other))) == 1) is shared


def test_identical_questions_are_matched_before_similar_ones():
    found = table(
        asked("Where was William Shakespeare born?", "Where was Shakespeare born?"),
        asked("Where was Shakespeare born?"),
    )
    assert found == [("Where was William Shakespeare born?", "1", "-"), ("Where was Shakespeare born?", "2", "1")]


def test_a_hop_without_a_question_has_a_row_of_its_own():
    assert table(asked(""), asked("")) == [("", "1", "-"), ("", "-", "1")]


def test_each_row_occurs_once_when_runs_disagree_on_the_order():
    one, other = asked("What is A?", "What is B?"), asked("What is B?", "What is A?")
    assert table(one, other) == [("What is A?", "1", "2"), ("What is B?", "2", "1")]


@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), min_size=2, max_size=4))
def test_every_hop_occurs_exactly_once(letters):
    reports = [asked(*(f"What is {each}?" for each in run)) for run in letters]
    found = rows(reports)
    for column, report in enumerate(reports):
        standing = [row.hops[column] for row in found if row.hops[column] is not None]
        assert sorted(standing, key=lambda hop: hop.number) == list(report.hops)


def test_pages_cited_by_both_come_first_with_their_hops():
    shared, alone = answer("Kyd", "Kyd wrote."), answer("1564", "In 1564.", "Stratford")
    found = pages([answered(alone, shared), answered(shared)])
    assert [(page.passage.title, [use.cited for use in page.uses]) for page in found[:2]] == [
        ("Hamlet", [(2,), (1,)]),
        ("Stratford", [(1,), ()]),
    ]
    assert (found[0].cited_in, found[0].alike) == (2, True)


def test_different_passages_of_one_page_are_one_page_marked_as_different():
    (page, *_) = pages([answered(answer("Kyd", "Kyd wrote.")), answered(answer("1600", "It is of 1600."))])
    assert (page.passage.title, page.cited_in, page.alike) == ("Hamlet", 2, False)


def test_a_page_that_was_only_retrieved_is_listed_as_read():
    found = {page.passage.title: page for page in pages([answered(answer("Kyd"), answer("1600")), answered(None)])}
    assert (found["Denmark"].uses[0].cited, found["Denmark"].uses[0].read) == ((), (1, 2))
    assert (found["Denmark"].met_in, found["Denmark"].cited_in) == (1, 0)


@pytest.mark.parametrize("url", [None, "https://[oops/p#x"])
def test_a_page_without_a_url_or_with_an_invalid_one_is_still_one_page(url):
    page = replace(passage("One.", "Notes"), url=url)
    found = pages([answered(Answer("One", Span(page, 0, 3))), answered(Answer(None, None, (page,)))])
    assert [page.met_in for page in found] == [2]
