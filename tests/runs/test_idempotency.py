"""The same form sent twice starts one run; a changed form starts another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.model import Claim, Question, RunOptions
from app.runs.service import QueueFull, Runs
from tests.fakes import Gate, scripted_container
from tests.runs.conftest import ended
from tests.waiting import LONG

CLAIM = Claim("The author of Hamlet was born in England.")
FORM = "a-form's-random-name"


def ids(runs: Runs, owner: str = "me") -> list[str]:
    return [each.id for each in runs.recent(owner)]


def test_a_changed_form_and_another_form_start_other_runs(runs):
    started = {
        runs.start(CLAIM, RunOptions(), "me", FORM),
        runs.start(CLAIM, RunOptions(), "me", "another form"),
        runs.start(Claim(f"{CLAIM.text}!"), RunOptions(), "me", FORM),
        runs.start(replace(CLAIM, date="2020-10-31"), RunOptions(), "me", FORM),
        runs.start(CLAIM, RunOptions(max_hops=2), "me", FORM),
    }
    assert sorted(started) == sorted(ids(runs)) and len(started) == 5


def test_forms_of_two_owners_with_the_same_name_start_two_runs(runs):
    assert runs.start(CLAIM, RunOptions(), "me", FORM) != runs.start(CLAIM, RunOptions(), "another", FORM)


def test_a_branch_that_is_sent_twice_starts_one_run_too(runs):
    parent = runs.start(CLAIM, RunOptions(), "me")
    ended(runs, parent)

    def branch(question: str) -> str:
        return runs.branch(parent, 2, Question(question), RunOptions(), "me", FORM)

    first = branch("Where was he born?")
    assert branch("Where was he born?") == first
    assert branch("In which town was he born?") != first
    assert len(runs.queries.branches(parent)) == 2


def test_a_form_whose_run_was_deleted_starts_another(runs):
    first = runs.start(CLAIM, RunOptions(), "me", FORM)
    ended(runs, first)
    runs.deletion.delete(first)
    second = runs.start(CLAIM, RunOptions(), "me", FORM)
    assert ids(runs) == [second] and second != first
    ended(runs, second)


def test_a_repeated_form_returns_its_run_even_when_the_queue_is_full(runs_with):
    gate = Gate("answer 1")
    runs = runs_with(scripted_container(gate=gate), workers=1, max_waiting=0)
    first = runs.start(CLAIM, RunOptions(), "me", FORM)
    assert gate.reached.wait(LONG)
    assert runs.start(CLAIM, RunOptions(), "me", FORM) == first
    with pytest.raises(QueueFull):
        runs.start(CLAIM, RunOptions(), "me", "another form")
    gate.open()
