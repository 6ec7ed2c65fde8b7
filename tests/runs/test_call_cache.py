"""What is kept of costly calls: by whole request, up to a size, the least needed going first, never in the way."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from flask import Flask
from sqlalchemy import create_engine, text
from sqlalchemy.orm import sessionmaker

from app import cli_cache
from app.domain.calls import Call, remembered, remembering
from app.runs.call_cache import MEGABYTE, TOUCH_AFTER, CallCache
from tests.runs.conftest import only_sqlite
from tests.waiting import LONG

START = datetime(2026, 11, 22, 12, tzinfo=UTC)


class Watch:
    """A time of day that tests set."""

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
def cache(sessions, watch) -> CallCache:
    return CallCache(sessions, 1, watch)


def test_a_kept_reply_is_recalled_for_an_equal_request_only(cache):
    cache.keep(call(), {"text": "Erdoğan 😀", "first": {"Er": -0.1}})
    assert cache.recall(call()) == {"text": "Erdoğan 😀", "first": {"Er": -0.1}}
    assert cache.recall(call("Ask!")) is None
    assert cache.recall(call(model="other")) is None


def test_the_same_again_is_not_made_again_even_by_another_process(sessions, database_url):
    made = []
    engine = create_engine(database_url)
    for each in (sessions, sessionmaker(engine)):
        with remembering(CallCache(each, 1)):
            assert remembered(call(), lambda: made.append(1) or "said") == "said"
    engine.dispose()
    assert made == [1]


def test_calls_that_cost_nothing_are_left_to_whoever_makes_them(cache):
    cache.keep(call(costly=False), "said")
    assert cache.recall(call(costly=False)) is None
    assert cache.size() == (0, 0)


def test_a_cache_of_no_size_keeps_nothing(sessions):
    none = CallCache(sessions, 0)
    none.keep(call(), "said")
    assert none.recall(call()) is None
    assert none.size() == (0, 0)


def test_the_first_reply_to_a_call_stands(cache):
    cache.keep(call(), "first")
    cache.keep(call(), "second")
    assert cache.recall(call()) == "first"
    assert cache.size()[0] == 1


def test_no_prompt_is_stored(cache, sessions):
    cache.keep(call("Was my neighbour in prison?"), "said")
    with sessions() as session:
        assert "neighbour" not in repr(session.execute(text("SELECT * FROM call_cache")).all())


def test_past_its_size_the_replies_that_nobody_needed_for_longest_go(cache, watch):
    for n in range(9):
        cache.keep(call(str(n)), reply(str(n), 100_000))
        watch.wait(minutes=1)
    watch.wait(hours=1)
    assert cache.recall(call("0")) is not None  # the oldest, but needed just now
    watch.wait(hours=1)
    cache.keep(call("new"), reply("new", 150_000))
    kept = [n for n in range(9) if cache.recall(call(str(n)))]
    assert cache.recall(call("new"))
    assert 0 in kept and 8 in kept and 1 not in kept
    assert kept == sorted(kept) and set(kept[1:]) == set(range(kept[1], 9))
    assert 0.75 * MEGABYTE < cache.size()[1] <= 0.95 * MEGABYTE


def test_a_reply_larger_than_the_whole_cache_pushes_nothing_out(cache):
    cache.keep(call("small"), "said")
    cache.keep(call("huge"), reply("huge", 2 * MEGABYTE))
    assert cache.recall(call("huge")) is None
    assert cache.recall(call("small")) == "said"


def test_a_reply_needed_again_and_again_is_written_to_once_a_minute(cache, watch, sessions):
    def used_at() -> str:
        with sessions() as session:
            return session.scalar(text("SELECT used_at FROM call_cache"))

    cache.keep(call(), "said")
    kept = used_at()
    watch.time += TOUCH_AFTER
    cache.recall(call())
    assert used_at() == kept
    watch.wait(seconds=1)
    cache.recall(call())
    assert used_at() > kept


def test_many_threads_keep_and_recall_at_once(sessions, caplog):
    cache, wrong = CallCache(sessions, 1), []

    def work(mine: int) -> None:
        for n in range(25):
            for name in (f"shared {n}", f"{mine} {n}"):
                cache.keep(call(name), reply(name, 15_000))
                if (found := cache.recall(call(name))) is not None and found != reply(name, 15_000):
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(LONG)
    count, size = cache.size()
    assert wrong == []
    assert count > 0 and size <= MEGABYTE
    assert caplog.messages == []


def test_a_cache_whose_table_is_gone_fails_no_call_and_says_so_once(sessions, caplog):
    with sessions.begin() as session:
        session.execute(text("DROP TABLE call_cache"))
    cache = CallCache(sessions, 1)
    with caplog.at_level(logging.WARNING), remembering(cache):
        assert [remembered(call(), lambda: "said") for _ in range(3)] == ["said"] * 3
    assert len([line for line in caplog.messages if "the cache of calls failed" in line]) == 1


@only_sqlite
def test_a_damaged_reply_counts_as_none(cache, sessions):
    cache.keep(call(), "said")
    with sessions.begin() as session:
        session.execute(text("UPDATE call_cache SET reply = '{\"text'"))
    assert cache.recall(call()) is None


@pytest.fixture
def terminal(cache):
    app = Flask("app")
    app.extensions["hopcheck"] = SimpleNamespace(cache=cache, settings=SimpleNamespace(cache_mb=1))
    cli_cache.register(app)
    return lambda *words, typed=None: app.test_cli_runner().invoke(args=["cache", *words], input=typed)


def test_the_command_line_shows_what_is_kept(terminal, cache):
    assert terminal("show").output == "0 replies, 0.0 of 1 MB (CACHE_MB)\n"
    cache.keep(call(), reply("a", 250_000))
    assert terminal("show").output == "1 reply, 0.3 of 1 MB (CACHE_MB)\n"


def test_purging_asks_before_it_forgets(terminal, cache):
    cache.keep(call(), "said")
    refused = terminal("purge", typed="n\n")
    assert refused.exit_code == 1
    assert cache.size()[0] == 1
    done = terminal("purge", typed="y\n")
    assert (done.exit_code, "Forget 1 reply?" in done.output, "1 forgotten" in done.output) == (0, True, True)
    assert cache.recall(call()) is None


def test_purging_with_yes_asks_nothing(terminal, cache):
    cache.keep(call(), "said")
    assert terminal("purge", "--yes").output == "1 forgotten\n"
    assert cache.size() == (0, 0)


@pytest.mark.parametrize("words", [["show"], ["purge", "--yes"]])
def test_a_database_that_cannot_be_used_is_said_in_one_line(terminal, sessions, words):
    with sessions.begin() as session:
        session.execute(text("DROP TABLE call_cache"))
    result = terminal(*words)
    assert result.exit_code == 1
    assert result.output.startswith("Error: The database") and result.output.count("\n") == 1
