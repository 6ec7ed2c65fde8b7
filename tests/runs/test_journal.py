"""The journal: what a run asked once it need not ask again, and a failing one costs nothing but memory."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select, text

from app.domain.calls import Call, remembered, remembering
from app.domain.events import RunFailed, RunStarted
from app.domain.model import Claim, RunOptions
from app.runs.event_store import EventStore
from app.runs.journal import Journal
from app.runs.tables import JournalRow

CALL = Call("judge 1", {"claim": "Hamlet is a play.", "temperature": 0.0})


@pytest.fixture
def log(sessions) -> EventStore:
    """A log with two runs in it."""
    log = EventStore(sessions)
    for run_id in ("run", "other"):
        log.create_run(run_id, "owner", RunStarted(Claim("Hamlet is a play."), RunOptions()))
    return log


@pytest.mark.parametrize("reply", ["Yes", 0.25, False, [], {"scores": [0.1, 0.9], "text": "Erdoğan"}])
def test_a_reply_comes_back_as_it_was_in_another_process_too(log, sessions, reply):
    Journal(sessions, "run").keep(CALL, reply)
    assert Journal(sessions, "run").recall(CALL) == reply


def test_a_call_that_differs_at_all_is_another(log, sessions):
    journal = Journal(sessions, "run")
    journal.keep(CALL, "reply")
    assert journal.recall(Call("judge 2", CALL.request)) is None
    assert journal.recall(Call("judge 1", {**CALL.request, "temperature": 1.0})) is None


def test_each_run_remembers_for_itself(log, sessions):
    Journal(sessions, "run").keep(CALL, "reply")
    assert Journal(sessions, "other").recall(CALL) is None


def test_the_first_reply_stands(log, sessions):
    journal = Journal(sessions, "run")
    journal.keep(CALL, "first")
    journal.keep(CALL, "second")
    assert journal.recall(CALL) == "first"


def test_a_run_that_has_ended_keeps_nothing_more(log, sessions, leases_with):
    log.append(leases_with().acquire("run"), RunFailed("no"))
    for run_id in ("run", "never"):
        Journal(sessions, run_id).keep(CALL, "late")
    with sessions() as session:
        assert session.scalar(select(func.count()).select_from(JournalRow)) == 0


def test_a_failing_journal_fails_no_call_and_says_so_once(log, sessions, caplog):
    with sessions.begin() as session:
        session.execute(text("drop table journal"))
    made = []
    with remembering(Journal(sessions, "run")):
        assert [remembered(CALL, lambda: made.append(1) or "reply") for _ in range(2)] == ["reply", "reply"]
    assert len(made) == 2
    assert caplog.text.count("its journal failed") == 1 and "run run" in caplog.text


def test_a_reply_that_json_cannot_write_is_forgotten(log, sessions, caplog):
    journal = Journal(sessions, "run")
    journal.keep(CALL, object())
    assert journal.recall(CALL) is None
    assert "its journal failed" in caplog.text
