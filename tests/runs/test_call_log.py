"""A resumed run replays its calls, runs share costly replies up to a size, and a failing log fails no call."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, func, select, text

from app.cli import runs
from app.domain.events import RunFailed, RunStarted
from app.domain.instrumentation import Call, cached_call, use_stores
from app.domain.model import Claim, RunOptions
from app.runs.call_log import MEGABYTE, TOUCH_AFTER, CallLog, RunCalls
from app.runs.event_store import EventStore
from app.runs.models import ModelCallRow, RunCallRow
from tests.terminal import terminal
from tests.waiting import LONG

START = datetime(2026, 11, 22, 12, tzinfo=UTC)
CHEAP = Call("judge 1", {"claim": "Hamlet is a play.", "temperature": 0.0})


class Watch:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def wait(self, **span) -> None:
        self.time += timedelta(**span)


def call(prompt: str = "Ask.", model: str = "tiny", costly: bool = True) -> Call:
    return Call(model, {"messages": [{"role": "user", "content": prompt}], "temperature": 0}, costly)


def reply(of: str, size: int = 0) -> dict:
    return {"text": of + "x" * size, "first": {}}


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def events(sessions) -> EventStore:
    """The events of two running runs."""
    events = EventStore(sessions)
    for run_id in ("run", "other"):
        events.create_run(run_id, "owner", RunStarted(Claim("Hamlet is a play."), RunOptions()))
    return events


@pytest.fixture
def calls(events, sessions, watch) -> CallLog:
    """A log that shares one megabyte."""
    return CallLog(sessions, 1, watch)


@pytest.fixture
def run(calls) -> RunCalls:
    return calls.for_run("run")


@pytest.fixture
def other(calls) -> RunCalls:
    return calls.for_run("other")


@pytest.fixture
def end(events, leases_with):
    """End a run."""
    return lambda run_id: events.append(leases_with().acquire(run_id), RunFailed("no"))


def stored(sessions, table) -> int:
    with sessions() as session:
        return session.scalar(select(func.count()).select_from(table))


@pytest.mark.parametrize("said", ["Yes", 0.25, False, [], {"scores": [0.1, 0.9], "text": "Erdoğan 😀"}])
@pytest.mark.parametrize("asked", [CHEAP, call()])
def test_a_resumed_run_gets_the_reply_as_it_was(run, sessions, asked, said):
    run.put(asked, said)
    assert CallLog(sessions, 1).for_run("run").get(asked) == said


def test_only_replies_to_costly_calls_are_shared_between_runs(run, other, calls):
    run.put(CHEAP, "said")
    assert (other.get(CHEAP), calls.size()) == (None, (0, 0))
    run.put(call(), "said")
    assert (other.get(call()), calls.size()[0]) == ("said", 1)


def test_a_fresh_run_neither_uses_nor_adds_shared_replies(run, calls, sessions):
    run.put(call(), "old")
    fresh = calls.for_run("other", is_fresh=True)
    assert fresh.get(call()) is None
    fresh.put(call(), "new")
    fresh.put(call("Ask more."), "new")
    assert calls.for_run("other", is_fresh=True).get(call()) == "new"
    assert (run.get(call()), run.get(call("Ask more."))) == ("old", None)
    assert (calls.size()[0], stored(sessions, RunCallRow)) == (1, 1)


def test_a_run_replays_its_own_reply_even_if_another_run_shared_one_meanwhile(run, other, calls):
    assert (run.get(call()), other.get(call())) == (None, None)
    run.put(call(), "first")
    other.put(call(), "second")
    assert [calls.for_run(each).get(call()) for each in ("run", "other")] == ["first", "second"]


def test_a_log_of_size_zero_shares_nothing_but_replays_a_runs_earlier_replies(run, sessions):
    run.put(call(), "shared")
    none = CallLog(sessions, 0)
    assert [none.for_run(each).get(call()) for each in ("run", "other")] == ["shared", None]
    none.for_run("run").put(call("Ask more."), "own")
    assert (none.for_run("run").get(call("Ask more.")), none.size()[0]) == ("own", 1)


def test_storing_a_reply_and_using_another_runs_reply_take_one_commit_each(run, other, sessions):
    commits: list[object] = []
    event.listen(sessions.kw["bind"], "commit", commits.append)
    run.put(call(), "said")
    assert len(commits) == 1
    assert (other.get(call()), len(commits)) == ("said", 2)
    assert (other.get(call()), len(commits)) == ("said", 2)


def test_a_new_run_looks_up_only_calls_of_its_own(run, calls):
    run.put(CHEAP, "of another process")
    new = calls.for_run("run", is_new=True)
    assert new.get(CHEAP) is None
    own = Call("judge 1", {"claim": "Emma is a play."})
    new.put(own, "mine")
    assert new.get(own) == "mine"


def test_the_end_of_a_run_deletes_only_its_own_replies(run, other, calls, end):
    for each in (run, other):
        each.put(CHEAP, "own")
    run.put(call(), "shared")
    end("run")
    assert [run.get(CHEAP), other.get(CHEAP), other.get(call())] == [None, "own", "shared"]


def test_an_ended_run_stores_no_replies(run, calls, end, sessions):
    end("run")
    for each in (run, calls.for_run("never")):
        each.put(CHEAP, "late")
    assert stored(sessions, ModelCallRow) == 0


def test_no_prompt_is_stored(run, sessions):
    run.put(call("Was my neighbour in prison?"), "said")
    with sessions() as session:
        assert "neighbour" not in repr(session.execute(text("SELECT * FROM model_calls")).all())


def test_above_the_size_limit_the_least_recently_used_shared_replies_are_evicted(run, calls, watch, end):
    for n in range(9):
        run.put(call(str(n)), reply(str(n), 100_000))
        watch.wait(minutes=1)
    watch.wait(hours=1)
    assert run.get(call("0")) is not None  # the oldest, but used just now
    watch.wait(hours=1)
    run.put(call("new"), reply("new", 150_000))
    end("run")
    kept = [n for n in range(9) if run.get(call(str(n)))]
    assert run.get(call("new"))
    assert 0 in kept and 8 in kept and 1 not in kept
    assert kept == sorted(kept) and set(kept[1:]) == set(range(kept[1], 9))
    assert 0.75 * MEGABYTE < calls.size()[1] <= 0.95 * MEGABYTE


def test_a_running_run_keeps_what_it_used_through_eviction_and_purging(run, other, calls, watch):
    run.put(call(), reply("run", 100_000))
    watch.wait(minutes=1)
    for n in range(12):
        other.put(call(str(n)), reply(str(n), 100_000))
        watch.wait(minutes=1)
    assert (run.get(call()), other.get(call())) == (reply("run", 100_000), None)
    calls.purge()
    assert [other.get(call(str(n))) for n in (0, 11)] == [reply(str(n), 100_000) for n in (0, 11)]
    assert (run.get(call("11")), calls.size()) == (None, (0, 0))


def test_the_last_use_of_a_reply_is_stored_at_most_once_a_minute(run, watch, sessions):
    def used_at() -> str:
        with sessions() as session:
            return session.scalar(text("SELECT used_at FROM model_calls"))

    run.put(call(), "said")
    first = used_at()
    watch.time += TOUCH_AFTER
    run.get(call())
    assert used_at() == first
    watch.wait(seconds=1)
    run.get(call())
    assert used_at() > first


def test_many_threads_store_and_look_up_at_once(events, sessions, caplog):
    calls, wrong = CallLog(sessions, 1), []

    def work(mine: int) -> None:
        store = calls.for_run(("run", "other")[mine % 2])
        for n in range(25):
            for name in (f"shared {n}", f"{mine} {n}"):
                store.put(call(name), reply(name, 15_000))
                if store.get(call(name)) != reply(name, 15_000):
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(LONG)
    count, size = calls.size()
    assert wrong == []
    # On PostgreSQL, writers at work at once do not see one another's replies: each may be one too many.
    assert count > 0 and size <= MEGABYTE + len(threads) * 16_000
    assert caplog.messages == []


@pytest.mark.parametrize("table", ["model_calls", "run_calls"])
@pytest.mark.parametrize("costly", [True, False])
def test_a_failing_log_fails_no_call_and_is_reported_once_without_the_reply(run, sessions, caplog, table, costly):
    with sessions.begin() as session:
        session.execute(text(f"DROP TABLE {table}"))
    with caplog.at_level(logging.WARNING), use_stores(run):
        assert [cached_call(call(costly=costly), lambda: "a secret") for _ in range(3)] == ["a secret"] * 3
    assert caplog.text.count("run run: its calls cannot be stored or read") == 1
    assert "secret" not in caplog.text


def test_purging_asks_for_confirmation(run, other, calls):
    command = terminal(runs.cache, calls=calls)
    run.put(call(), "said")
    refused = command("cache", "purge", input="n\n")
    assert refused.exit_code == 1
    assert calls.size()[0] == 1
    done = command("cache", "purge", input="y\n")
    assert (done.exit_code, "Forget 1 reply?" in done.output, "1 forgotten" in done.output) == (0, True, True)
    assert other.get(call()) is None
