"""The list of an owner's runs can be searched, filtered and paged, and has no run of another owner."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import insert

from app.domain.model import RunOptions
from app.runs.models import RunRow
from app.runs.service import RunFilter
from tests.runs.conftest import NOON, ended_row


@pytest.fixture
def stored(sessions):
    """A function that stores the row of a run, each a minute older than the one before."""
    count = 0

    def store(claim: str, **columns) -> str:
        nonlocal count
        count += 1
        run_id = f"run{count:03}"
        columns = {"created_at": NOON - timedelta(minutes=count), **columns}
        with sessions.begin() as session:
            session.execute(insert(RunRow).values(ended_row(run_id, claim, **columns)))
        return run_id

    return store


def claims(found) -> list[str]:
    return [each.claim for each in found]


@pytest.mark.parametrize("words", ["hamlet", "PLAY ham", "", "  ", "amle", "is play"])
def test_a_claim_is_found_when_it_contains_every_word_in_any_case(runs, stored, words):
    stored("Hamlet is a play.")
    assert claims(runs.recent("me", wanted=RunFilter(words))) == ["Hamlet is a play."]


def test_runs_whose_options_cannot_be_read_do_not_keep_those_of_others_from_being_read(runs, stored):
    ours, newer = stored("One."), stored("Two.", options={"an option of a later version": 1})
    assert runs.queries.options_of([ours, newer, "never"]) == {ours: RunOptions(answerer="retriever-reader")}


@pytest.mark.parametrize("words", ["hamlet opera", "%", "_amlet", "\\", "' OR 1=1 --", "Hamlet."])
def test_a_missing_word_finds_nothing_and_wildcards_are_literal(runs, stored, words):
    stored("Hamlet is a play.")
    assert runs.recent("me", wanted=RunFilter(words)) == ()


@pytest.mark.parametrize("words", ["erdogan", "ERDOĞAN", "straße strasse", "ПЕТЕРБУРГ"])
def test_case_and_accents_are_ignored_beyond_ascii_too(runs, stored, words):
    stored("Erdoğan lived in a Straße of Петербург.")
    assert runs.recent("me", wanted=RunFilter(words))


def test_runs_are_filtered_by_label_state_and_answerer(runs, stored):
    stored("one")
    stored("two", label="REFUTED", answerer="reciter-reader")
    stored("three", label=None, state="failed")
    stored("four", label=None, state="running", answerer="reciter-reader")
    assert claims(runs.recent("me", wanted=RunFilter(outcome="SUPPORTED"))) == ["one"]
    assert claims(runs.recent("me", wanted=RunFilter(outcome="failed"))) == ["three"]
    assert claims(runs.recent("me", wanted=RunFilter(answerer="reciter-reader"))) == ["two", "four"]
    assert claims(runs.recent("me", wanted=RunFilter("t", "REFUTED", "reciter-reader"))) == ["two"]
    assert runs.recent("me", wanted=RunFilter(outcome="running", answerer="retriever-reader")) == ()


def test_a_list_continues_after_any_of_its_runs_with_the_same_filter(runs, stored):
    for n in range(7):
        stored(f"{'odd' if n % 2 else 'even'} {n}", created_at=NOON)
    seen, after = [], None
    while page := runs.recent("me", 2, after, RunFilter("even")):
        seen += claims(page)
        after = (page[-1].created_at, page[-1].id)
    assert seen == ["even 0", "even 2", "even 4", "even 6"]
