"""Searches are cached for a run and for the site, and a planted key appears nowhere in what they leave behind."""

from __future__ import annotations

import json

import pytest

from app.backends.http import open_client
from app.domain.errors import CallFailed
from app.domain.instrumentation import listening, use_stores
from app.domain.model import Usage
from tests.backends.web_search.search_server import KEY, Reply, Said, SearchServer
from tests.backends.web_search.searching_at import ALL, HAMLET, KEYED, REPLIES, searching
from tests.stores import JsonStore, left_by


@pytest.mark.parametrize("name", ALL)
def test_the_same_search_is_made_once_and_a_different_one_separately(name):
    collected: list = []
    with SearchServer([Reply(REPLIES[name](HAMLET))]) as server, use_stores(JsonStore()), listening(collected.append):
        search = searching(name, server)
        first = search.search("Who wrote Hamlet?", 10)
        assert search.search("Who  wrote Hamlet? ", 10) == first
        assert collected[-1].usage == Usage(cached=1)
        assert len(server.asked) == 1
        search.search("Who wrote Hamlet?", 5)
        search.search("Who wrote Hamlet?", 10, "2020-10-31")
        search.search("Who wrote Lear?", 10)
    assert len(server.asked) == 4


def test_a_relative_age_is_cached_as_a_fixed_date():
    said = Said("Hamlet", "https://example.org/", "", "3 days ago")
    store = JsonStore()
    with SearchServer([Reply(REPLIES["serper"](said))]) as server, use_stores(store):
        searching("serper", server).search("Who?", 10)
    assert "2026-11-19" in json.dumps(store.replies)


def test_a_failure_is_not_cached_and_calls_are_marked_costly():
    store = JsonStore()
    with SearchServer([Reply({}, 401), Reply(REPLIES["brave"](HAMLET))]) as server, use_stores(store):
        with pytest.raises(CallFailed):
            searching("brave", server).search("Who?", 10)
        assert len(searching("brave", server).search("Who?", 10)) == 1
    assert len(store.replies) == 1
    assert all(call.costly for call in store.calls)


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize(
    "status, body",
    [(200, {"results": f"Bearer {KEY}"}), (401, {"message": KEY}), (418, {"detail": f"You sent {KEY}!"}), (500, KEY)],
)
def test_a_planted_key_is_in_no_log_error_trace_event_cache_or_repr(name, status, body, caplog):
    with SearchServer([Reply(body, status)]) as server:
        search = searching(name, server)
        left = left_by(lambda: search.search("Who?", 10), open_client, caplog)
    assert KEY in str(server.asked[0].headers)  # the key was sent, so it could have leaked
    assert KEY not in left + repr(vars(search)) + repr(search._provider.build_request("Who?", 10, None))
