"""A run's memories as one: a reply is kept by all of them at once, and by each alone where one fails."""

from __future__ import annotations

import pytest
from sqlalchemy import event, func, select, text

from app.domain.calls import Call
from app.domain.events import RunStarted
from app.domain.model import Claim, RunOptions
from app.runs.call_cache import CallCache
from app.runs.event_store import EventStore
from app.runs.journal import Journal
from app.runs.replies import Replies
from app.runs.run_calls import RunCalls
from app.runs.tables import RunCallRow

CALL = Call("a model", {"prompt": "Ask."}, costly=True)


@pytest.fixture
def memories(sessions) -> tuple:
    """The journal of a run, its account of the cache, and the cache."""
    EventStore(sessions).create_run("run", "owner", RunStarted(Claim("Hamlet is a play."), RunOptions()))
    return Journal(sessions, "run"), RunCalls(sessions, "run"), CallCache(sessions, 1)


@pytest.fixture
def commits(sessions) -> list[object]:
    """Grows by one with each commit."""
    seen: list[object] = []
    event.listen(sessions.kw["bind"], "commit", seen.append)
    return seen


def noted(sessions) -> int:
    with sessions() as session:
        return session.scalar(select(func.count()).select_from(RunCallRow))


def test_a_reply_that_came_is_kept_by_all_in_one_commit(memories, sessions, commits):
    Replies(sessions, memories).keep(CALL, "said")
    assert len(commits) == 1
    journal, _, cache = memories
    assert (journal.recall(CALL), cache.recall(CALL), noted(sessions)) == ("said", "said", 1)


def test_a_reply_that_a_farther_one_has_is_told_to_those_before_it_in_one_commit(memories, sessions, commits):
    journal, _, cache = memories
    cache.keep(CALL, "said")
    commits.clear()
    assert Replies(sessions, memories).recall(CALL) == "said"
    assert (journal.recall(CALL), noted(sessions), len(commits)) == ("said", 1, 1)
    commits.clear()
    assert (Replies(sessions, memories).recall(CALL), commits) == ("said", [])


def test_a_reply_that_nobody_has_is_none(memories, sessions):
    assert Replies(sessions, memories).recall(CALL) is None


@pytest.mark.parametrize("broken", ["journal", "run_calls", "call_cache"])
def test_where_one_fails_the_others_keep_the_reply_and_it_says_so_once(memories, sessions, broken, caplog):
    with sessions.begin() as session:
        session.execute(text(f"DROP TABLE {broken}"))
    replies = Replies(sessions, memories)
    for prompt in ("a", "b"):
        replies.keep(Call("a model", {"prompt": prompt}, costly=True), "said")
    assert replies.recall(Call("a model", {"prompt": "b"}, costly=True)) == "said"
    assert len([each for each in caplog.records if each.levelname != "DEBUG"]) == 1
    if broken != "run_calls":
        assert noted(sessions) == 2


def test_a_journal_of_a_run_that_has_not_begun_looks_up_no_call_but_its_own(memories, sessions):
    before, _, _ = memories
    before.keep(CALL, "of another process")
    journal = Journal(sessions, "run", begun=False)
    assert journal.recall(CALL) is None
    own = Call("a model", {"prompt": "Ask me."})
    journal.keep(own, "mine")
    assert journal.recall(own) == "mine"
    assert Journal(sessions, "run").recall(CALL) == "of another process"
