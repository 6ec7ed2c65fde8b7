"""Requests and replies follow each provider's documentation."""

from __future__ import annotations

import pytest

from app.backends.web_search.registry import PROVIDERS, configured_searches
from app.backends.web_search.searxng import Searxng
from app.domain.errors import SettingsError
from app.domain.instrumentation import listening
from app.domain.messages import Code
from app.domain.model import SearchHit, Usage
from tests.backends.web_search.search_server import KEY, Reply, Said, SearchServer, searxng_reply
from tests.backends.web_search.searching_at import ALL, HAMLET, REPLIES, failure, searching

QUESTION = "Кто написал «Гамлета»? 誰が?"


def asked(name: str, query: str = QUESTION, k: int = 10, before: str | None = None):
    """Return the request that a search makes to a provider that finds nothing."""
    with SearchServer([Reply(REPLIES[name]())]) as server:
        assert searching(name, server).search(query, k, before) == ()
    assert len(server.asked) == 1
    return server.asked[0]


@pytest.mark.parametrize("name", ALL)
def test_a_documented_reply_becomes_hits_in_the_same_order(name):
    other = Said("Other", "http://other.example/a?b=c", "Another page.", "2020-10-31")
    with SearchServer([Reply(REPLIES[name](HAMLET, other))]) as server:
        assert searching(name, server).search(QUESTION, 10) == (
            SearchHit("Hamlet", "example.org", "Shakespeare wrote it.", "https://www.example.org/hamlet"),
            SearchHit("Other", "other.example", "Another page.", "http://other.example/a?b=c", "2020-10-31"),
        )


def test_searxng_gets_a_form_request_for_json():
    request = asked("searxng")
    assert (request.method, request.path) == ("POST", "/search")
    assert request.params == {"q": QUESTION, "format": "json"}


def test_brave_gets_its_token_and_a_request_for_web_results_without_spellcheck():
    request = asked("brave", k=7)
    assert (request.method, request.headers["x-subscription-token"]) == ("GET", KEY)
    assert request.params == {
        "q": QUESTION,
        "count": "7",
        "result_filter": "web",
        "text_decorations": "false",
        "operators": "false",
        "spellcheck": "false",
    }


def test_tavily_and_serper_get_their_key_and_tavily_a_basic_search():
    tavily, serper = asked("tavily", k=7), asked("serper", k=7)
    assert (tavily.method, tavily.headers["authorization"]) == ("POST", f"Bearer {KEY}")
    assert tavily.body == {"query": QUESTION, "max_results": 7, "search_depth": "basic", "include_answer": False}
    assert (serper.method, serper.headers["x-api-key"]) == ("POST", KEY)
    assert serper.body == {"q": QUESTION, "num": 7}


def test_brave_tavily_and_serper_get_the_day_before_in_the_form_that_each_understands():
    assert asked("brave", before="2020-11-01").params["freshness"] == "1900-01-01to2020-10-31"
    assert asked("tavily", before="2020-11-01").body["end_date"] == "2020-10-31"
    assert asked("serper", before="2020-11-01").body["tbs"] == "cdr:1,cd_max:10/31/2020"


def test_a_claim_from_before_the_earliest_day_is_searched_as_of_that_day():
    for before in ("0001-01-01", "1900-01-01"):
        assert asked("brave", before=before).params["freshness"] == "1900-01-01to1900-01-01"
        assert asked("tavily", before=before).body["end_date"] == "1900-01-01"
        assert asked("serper", before=before).body["tbs"] == "cdr:1,cd_max:01/01/1900"


@pytest.mark.parametrize("name", ALL)
def test_hits_dated_on_or_after_the_day_are_removed_and_undated_ones_kept(name):
    said = [
        Said("Day before", "https://a.example/", "", "2020-10-31"),
        Said("The day", "https://b.example/", "", "2020-11-01"),
        Said("Later", "https://c.example/", "", "3 days ago"),
        Said("Undated", "https://d.example/", ""),
        Said("Unread", "https://e.example/", "", "some time in the past"),
    ]
    with SearchServer([Reply(REPLIES[name](*said))]) as server:
        found = searching(name, server).search(QUESTION, 10, "2020-11-01")
    assert [hit.title for hit in found] == ["Day before", "Undated"]


@pytest.mark.parametrize(("name", "most"), [("brave", 20), ("tavily", 20), ("serper", 100)])
def test_the_requested_count_is_capped_at_the_providers_limit(name, most):
    request = asked(name, k=1000)
    assert str(most) in [str(value) for value in [*request.params.values(), *(request.body or {}).values()]]


@pytest.mark.parametrize("name", ALL)
def test_at_most_k_hits_are_returned(name):
    said = [Said(str(at), f"https://example.org/{at}", "") for at in range(30)]
    with SearchServer([Reply(REPLIES[name](*said))]) as server:
        assert [hit.title for hit in searching(name, server).search(QUESTION, 3)] == ["0", "1", "2"]


@pytest.mark.parametrize("name", ALL)
def test_a_long_query_is_cut_at_a_word_within_the_limit(name):
    request = asked(name, "word " * 1000)
    sent = max([*request.params.values(), *(request.body or {}).values()], key=lambda value: len(str(value)))
    assert set(sent.split()) == {"word"}
    assert len(sent.split()) == (50 if name == "brave" else 80)
    assert len(sent) <= 400


@pytest.mark.parametrize("url", ["http://10.0.0.7:8080", "http://10.0.0.7:8080/", "http://10.0.0.7:8080/search"])
def test_searxng_may_have_a_private_address_with_or_without_a_path(url):
    assert Searxng(url).url == "http://10.0.0.7:8080/search"


def test_searxng_fails_when_all_its_engines_are_unresponsive():
    with SearchServer([Reply(searxng_reply(silent=[["bing", "timeout"], ["google", "CAPTCHA"]]))]) as server:
        assert "these search engines did not answer it: bing, google." in failure(searching("searxng", server))


@pytest.mark.parametrize("name", ALL)
def test_a_search_reports_its_phase_and_counts_as_one_call(name):
    events: list = []
    with SearchServer([Reply(REPLIES[name](HAMLET))]) as server, listening(events.append):
        search = searching(name, server)
        search.search(QUESTION, 10)
    assert (events[0].phase, events[1].usage) == (Code.SEARCHING_WITH(engine=search.title), Usage(calls=1))


def test_no_cookies_are_kept_between_searches():
    with SearchServer([Reply(searxng_reply(), headers={"Set-Cookie": "who=you; Path=/"})]) as server:
        search = searching("searxng", server)
        search.search("One?", 10)
        search.search("Two?", 10)
    assert len(server.asked) == 2
    assert "cookie" not in server.asked[1].headers


@pytest.mark.parametrize("name", ALL)
def test_a_query_without_words_is_not_sent_and_finds_nothing(name):
    with SearchServer([Reply(REPLIES[name](HAMLET))]) as server:
        assert searching(name, server).search(" \n\t ", 10) == ()
    assert server.asked == []


def test_searxng_command_syntax_is_removed_from_queries():
    assert asked("searxng", "!!g !images :fr <3 he said !").params["q"] == "g images fr 3 he said"


def test_each_setting_configures_one_search_engine_with_its_destination():
    keys = {"BRAVE_API_KEY": "b", "TAVILY_API_KEY": "t", "SERPER_API_KEY": "s"}
    searches = configured_searches({"SEARXNG_URL": "http://127.0.0.1:8080", **keys}, 60)
    assert {each.name: each.destination for each in searches} == {
        "searxng": None,
        "brave": "api.search.brave.com",
        "tavily": "api.tavily.com",
        "serper": "google.serper.dev",
    }
    assert [each.name for each in searches] == [each.name for each in PROVIDERS]
    two = configured_searches({"TAVILY_API_KEY": "t", "SEARXNG_URL": "https://searx.example/"}, 60)
    assert [each.name for each in two] == ["searxng", "tavily"]


@pytest.mark.parametrize(
    "url",
    ["searx.example", "ftp://searx.example", "http://", "http://[::1", "http://a:99999", "http://who:secret@a.example"],
)
def test_an_invalid_searxng_url_is_reported_without_showing_it(url):
    with pytest.raises(SettingsError, match=r"^SEARXNG_URL must be a URL like") as status_message:
        configured_searches({"SEARXNG_URL": url}, 60)
    assert "secret" not in str(status_message.value)
