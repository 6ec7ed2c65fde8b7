"""Every failure of a provider becomes one clear sentence, in time, and never a hit."""

from __future__ import annotations

import gzip
import time

import pytest

from app.backends.http import open_client
from app.backends.web_search.registry import MAX_REPLY_BYTES
from tests.backends.web_search.search_server import KEY, Reply, SearchServer
from tests.backends.web_search.searching_at import ALL, HAMLET, KEYED, REPLIES, failure, searching
from tests.waiting import LONG, LONGER


def brave_error(status: int, code: str) -> Reply:
    detail = {"code": code, "detail": f"The key {KEY} is wrong.", "status": status}
    return Reply({"type": "ErrorResponse", "error": detail}, status)


@pytest.mark.parametrize(
    ("name", "reply", "sentence"),
    [
        (
            "brave",
            brave_error(422, "SUBSCRIPTION_TOKEN_INVALID"),
            "does not accept the key; look at BRAVE_API_KEY (422)",
        ),
        ("brave", brave_error(429, "QUOTA_LIMITED"), "has no credit left for this account (429)"),
        ("brave", brave_error(422, "VALIDATION"), 'turned the search down (422): "The key [key] is wrong."'),
        ("tavily", Reply({"detail": {"error": "Unauthorized"}}, 401), "accept the key; look at TAVILY_API_KEY (401)"),
        ("tavily", Reply({"detail": {"error": "usage limit"}}, 432), "has no credit left for this account (432)"),
        ("tavily", Reply({"detail": {"error": "Query is too long."}}, 400), '(400): "Query is too long."'),
        ("serper", Reply({"message": "Not enough credits", "statusCode": 400}, 400), "no credit left"),
        ("searxng", Reply(b"<h1>403 Forbidden</h1>", 403), "add json to search.formats in its settings.yml (403)"),
        ("searxng", Reply(b"", 404), "has no search there; look at SEARXNG_URL (404)"),
    ],
)
def test_a_refusal_names_the_setting_to_check(name, reply, sentence):
    with SearchServer([reply]) as server:
        said = failure(searching(name, server))
    assert sentence in said
    assert KEY not in said and "\n" not in said
    assert len(server.asked) == 1


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply(b"<html>Hello</html>", headers={"Content-Type": "text/html"}), "send search results, but text/html"),
        (Reply(b'{"results": [{"tit'), "did not send search results"),
        (Reply(b"\xff\xfe\x00"), "did not send search results"),
        (Reply(["what"]), "did not send search results"),
        (Reply({"results": "none", "web": [], "organic": {}}), "did not send search results"),
        (Reply(b"[" * 100_000), "did not send search results"),
        (Reply(b"", 301, {"Location": "http://127.0.0.1:9/"}), "sends searches on to another address"),
        (Reply({"message": ["odd"], "detail": [], "errors": [{"x": 1}]}, 418), "turned the search down (418)."),
        (Reply(b" " * (MAX_REPLY_BYTES + 1)), "sent more than 2,000,000 bytes"),
        (Reply(gzip.compress(b" " * 50_000_000), headers={"Content-Encoding": "gzip"}), "sent more than 2,000,000"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_an_unusable_reply_is_one_clear_sentence_and_is_not_retried(name, reply, sentence):
    with SearchServer([reply]) as server:
        said = failure(searching(name, server))
    assert sentence in said
    assert said.startswith("The search engine ") and "127.0.0.1" in said and "\n" not in said
    assert len(server.asked) == 1


def test_a_key_echoed_as_content_type_is_not_shown():
    with SearchServer([Reply(b"hello", headers={"Content-Type": f"text/{KEY}; charset=utf-8"})]) as server:
        assert failure(searching("brave", server)).endswith("did not send search results, but text/[key].")


def test_a_429_waits_as_long_as_the_provider_asks_within_the_time_of_a_search():
    sleeps: list[float] = []
    replies = [Reply({}, 429, {"Retry-After": "7"}), Reply({}, 429, {"Retry-After": "3600"})]
    with SearchServer(replies) as server:
        assert "has had too many searches; try again later (429)" in failure(searching("brave", server, sleeps=sleeps))
    assert (len(server.asked), sleeps) == (2, [7.0])


@pytest.mark.parametrize("late", [{"delay": LONGER}, {"drip": 1}], ids=["slow", "dripping"])
def test_a_slow_provider_is_given_up_at_the_deadline(late):
    with SearchServer([Reply(REPLIES["brave"](HAMLET), **late)]) as server:
        search = searching("brave", server, seconds=0.5)
        open_client()
        begun = time.monotonic()
        assert "did not answer within 0.5 seconds." in failure(search)
        assert time.monotonic() - begun < LONG


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("key", ["two words", "ключ"])
def test_an_invalid_key_is_not_sent(name, key):
    with SearchServer([Reply(REPLIES[name](HAMLET))]) as server:
        said = failure(searching(name, server, key=key))
    assert f"that no key has; look at {name.upper()}_API_KEY." in said
    assert key not in said
    assert server.asked == []
