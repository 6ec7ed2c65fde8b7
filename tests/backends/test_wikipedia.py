"""Live Wikipedia, over real HTTP from a server that answers like MediaWiki's Action API."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from app.backends.corpus.registry import CorpusRegistry, CorpusSearch
from app.backends.corpus.wikipedia import (
    LIVE,
    SharedLimiter,
    Wikipedia,
    search_query,
)
from app.domain.errors import CallFailed
from app.domain.events import TokensUsed, TroubleMet
from app.domain.instrumentation import MemoryStore, listening, use_stores
from app.domain.messages import Code
from app.domain.model import SearchHit
from tests.mediawiki import JSON, LAGGED, Article, Edit, MediaWikiServer, failure, wikipedia
from tests.web_server import Sent, WebServer, moved

OLD = "The Kestrel Bridge is a footbridge. It was planned by Mira Dolan."
NEW = (
    "The Kestrel Bridge is a footbridge over the Tarn. It was designed by Mira Dolan.\n\n\n== History ==\n"
    "The bridge was opened in 1997 by the mayor.\n\n\n== References =="
)
BRIDGE = Article(
    "Kestrel Bridge", (Edit(11, "2019-05-01", OLD), Edit(12, "2021-03-04", NEW)), redirects=("Kestrel Footbridge",)
)
DOLAN = Article("Mira Dolan", (Edit(21, "2020-06-07", "Mira Dolan is an engineer. She was born in Lund."),))
KESTREL = Article("Kestrel", (Edit(31, "2018-01-01", "Kestrel may refer to: Kestrel Bridge."),), is_disambiguation=True)
GONE = Article("Kestrel Bridge fire", (Edit(41, "2020-01-01", "The Kestrel Bridge burned."),), is_deleted=True)
QUESTION = "Who designed the Kestrel Bridge?"


ASKING = """
import sys
from pathlib import Path
from types import SimpleNamespace
from app.backends.corpus.wikipedia import SharedLimiter
from app.backends.fetch.safe_http import Budget
from tests.web_server import client

http = client(SimpleNamespace(port={port}), limiter=SharedLimiter(Path({locks!r})))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(4):
    print(http.get({url!r}, Budget(30)).status, flush=True)
"""
"""Another process that asks four times."""


@pytest.fixture
def wiki():
    with MediaWikiServer(BRIDGE, DOLAN, KESTREL, GONE) as server:
        yield server


def message_of(wiki: Wikipedia, query: str = QUESTION, before: str | None = None) -> str:
    with pytest.raises(CallFailed) as failed:
        wiki.retrieve(query, 5, before)
    return str(failed.value)


def texts_asked(server: MediaWikiServer) -> list[str]:
    return [
        each.get("titles") or each["oldid"] for each in server.requests if "extracts" in str(each) or "oldid" in each
    ]


class TestArticles:
    def test_a_passage_cites_title_revision_day_licence_and_the_address_of_the_revision(self, wiki):
        best = wikipedia(wiki).retrieve(QUESTION, 5)[0]
        assert best.text.startswith("The Kestrel Bridge is a footbridge over the Tarn. It was designed by Mira Dolan.")
        assert (best.title, best.source, best.published) == (
            "Kestrel Bridge",
            "Wikipedia, revision 12, CC BY-SA 4.0",
            "2021-03-04",
        )
        assert best.url == wiki.url("/w/index.php?title=Kestrel_Bridge&oldid=12")

    @pytest.mark.parametrize("before", [None, "2020-01-01"])
    def test_superscripts_stay_apart_in_current_and_old_revisions(self, before):
        text = "The Kestrel Bridge was designed to bear 10<sup>6</sup> kg, <s>or 10<sup>5</sup>,</s> in 1997."
        article = Article("Kestrel Bridge", (Edit(11, "2019-05-01", text), Edit(12, "2021-03-04", text)))
        with MediaWikiServer(article) as server:
            found = wikipedia(server).retrieve(QUESTION, 1, before)[0].text
        assert found == "The Kestrel Bridge was designed to bear 10^6 kg, in 1997."

    def test_disambiguations_deleted_and_unknown_pages_are_left_out(self, wiki):
        found = wikipedia(wiki).retrieve("Did the Kestrel Bridge fire reach Kestrel, then Nowhereville?", 20)
        assert {each.title for each in found} == {"Kestrel Bridge"}
        assert "Nowhereville" in wiki.requests[0]["titles"].split("|")

    def test_articles_with_some_of_the_words_are_found_when_none_has_all(self, wiki):
        found = wikipedia(wiki).retrieve("which engineer studied hydraulics in lund", 5)
        assert [each.title for each in found] == ["Mira Dolan"]
        assert [each["gsrsearch"] for each in wiki.requests if "generator" in each] == [
            "engineer studied hydraulics lund",
            "engineer OR studied OR hydraulics OR lund",
        ]

    def test_passages_with_rare_words_of_the_query_come_before_others(self):
        filler = "The bridge is one of many bridges of the town and stands near other bridges of the river. " * 8
        rare = "It was painted by Ottilie Brand. " + filler
        text = "\n".join([filler, filler.replace("many", "some"), rare, filler.replace("many", "few")])
        with MediaWikiServer(Article("Bridges", (Edit(1, "2020-01-01", text),))) as server:
            lead, best, *_ = wikipedia(server).retrieve("Which bridge did Brand paint?", 5)
        assert lead.text.startswith("The bridge is one of many")  # the beginning of an article is always among them
        assert "Ottilie Brand" in best.text


class TestDatedClaims:
    def test_a_dated_claim_is_checked_with_the_revision_before_that_day(self, wiki):
        best = wikipedia(wiki).retrieve(QUESTION, 5, "2021-03-04")[0]
        assert (best.text, best.published) == (OLD, "2019-05-01")
        assert best.url.endswith("&oldid=11")

    def test_an_article_that_has_not_changed_since_that_day_is_read_as_it_is(self, wiki):
        found = wikipedia(wiki).retrieve(QUESTION, 5, "2021-03-05")
        assert found[0].published == "2021-03-04"
        assert not [each for each in wiki.requests if each["action"] == "parse"]

    def test_an_article_that_is_younger_than_that_day_is_left_out(self, wiki):
        assert wikipedia(wiki).retrieve("Where was Mira Dolan born?", 5, "2019-01-01") == ()

    def test_a_revision_that_was_deleted_is_left_out(self, wiki):
        gone = failure("nosuchrevid", "There is no revision with ID 11.")
        wiki.broken = lambda query: gone if query["action"] == "parse" else None
        assert wikipedia(wiki).retrieve(QUESTION, 5, "2020-01-01") == ()


class TestCaching:
    def test_a_text_is_fetched_once_for_each_revision_and_again_after_an_edit(self, wiki):
        with use_stores(MemoryStore()):
            wikipedia(wiki).retrieve(QUESTION, 5)
            first = len(wiki.requests)
            wikipedia(wiki).retrieve(QUESTION, 5)
            assert len(wiki.requests) == first
            wikipedia(wiki).retrieve("When was the Kestrel Bridge opened?", 5)
            assert texts_asked(wiki).count("Kestrel Bridge") == 1
            edited = Article(BRIDGE.title, (*BRIDGE.edits, Edit(13, "2026-11-22", "It was opened in 1998.")))
            wiki.articles = (edited, DOLAN)
            found = wikipedia(wiki).retrieve("In which year was the Kestrel Bridge opened?", 5)
        assert found[0].source == "Wikipedia, revision 13, CC BY-SA 4.0"
        assert texts_asked(wiki).count("Kestrel Bridge") == 2

    def test_an_edit_between_search_and_reading_does_not_change_what_is_cited(self, wiki):
        def edit_meanwhile(query):
            if "extracts" in query.get("prop", ""):
                wiki.articles = (Article(BRIDGE.title, (*BRIDGE.edits, Edit(13, "2026-11-23", "Vandalised."))), DOLAN)

        wiki.broken = edit_meanwhile
        best = wikipedia(wiki).retrieve(QUESTION, 5)[0]
        assert best.url.endswith("&oldid=12") and "designed by Mira Dolan" in best.text

    @pytest.mark.parametrize(("before", "requests"), [(None, 2), ("2020-01-01", 3)])
    def test_each_search_request_counts_as_one_call(self, wiki, before, requests):
        reported = []
        with listening(reported.append):
            wikipedia(wiki).retrieve(QUESTION, 5, before)
        searches = [each for each in wiki.requests if "ppprop" in each or "rvstart" in each]
        assert sum(each.usage.calls for each in reported if isinstance(each, TokensUsed)) == len(searches) == requests


class TestEtiquette:
    def test_every_request_names_maxlag_and_asks_for_compressed_json(self, wiki):
        wikipedia(wiki, accept="application/json").retrieve(QUESTION, 5, "2020-01-01")
        assert {each["maxlag"] for each in wiki.requests} == {"5"}
        assert {(each["accept"], each["accept-encoding"]) for each in wiki.headers} == {
            ("application/json", "gzip, deflate")
        }

    def test_processes_with_the_same_locks_make_one_request_at_a_time(self, tmp_path):
        with WebServer({"/slow": Sent(b"{}", JSON, delay=0.2)}) as server:
            script = ASKING.format(port=server.port, url=server.url("/slow"), locks=str(tmp_path / "locks"))
            started = [
                subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                for _ in range(2)
            ]
            assert [each.stdout.readline() for each in started] == [b"ready\n"] * 2
            for each in started:
                each.stdin.write(b"go\n")
                each.stdin.flush()
            outputs = [each.communicate(timeout=60)[0] for each in started]
        assert outputs == [b"200\n" * 4] * 2
        assert server.most_at_once == 1

    def test_a_host_that_another_process_asks_for_too_long_is_not_asked(self, tmp_path):
        with MediaWikiServer(BRIDGE) as wiki:
            source = wikipedia(wiki, limiter=SharedLimiter(tmp_path, wait_seconds=0.1))
            with SharedLimiter(tmp_path).slot(source.host):
                message = message_of(source)
        assert f"{source.host} was not asked: another process was still asking it." in message
        assert wiki.requests == []

    def test_a_server_that_lags_is_asked_again_after_the_time_that_it_names(self, wiki):
        slept, left = [], [LAGGED, LAGGED]
        wiki.broken = lambda query: left.pop() if left else None
        assert wikipedia(wiki, slept=slept).retrieve(QUESTION, 1)
        assert slept == [3.0, 3.0]

    def test_a_server_that_keeps_lagging_fails_the_call(self, wiki):
        wiki.broken = lambda query: LAGGED
        assert message_of(wikipedia(wiki)) == "Wikipedia at good.test is too busy just now; try again in a minute."
        assert len(wiki.requests) == 4

    def test_a_redirect_to_another_host_is_not_followed(self, wiki):
        elsewhere = moved(wiki.url("/w/api.php", host="other.test"))
        wiki.broken = lambda query: elsewhere
        assert "good.test redirects to other.test, which was not asked." in message_of(wikipedia(wiki))
        assert len(wiki.requests) == 1


class TestFailures:
    def test_without_a_network_the_message_says_so_and_names_the_way_out(self, wiki):
        def unknown(host, port):
            raise OSError("no network")

        assert message_of(wikipedia(wiki, resolve=unknown)) == (
            "Wikipedia could not be asked. good.test cannot be found: no such host is known. "
            "The sources on this machine need no network."
        )

    @pytest.mark.parametrize(
        ("sent", "words"),
        [
            (Sent(status=500), "did not send a reply that can be read (500)."),
            (Sent(status=429), "is too busy just now"),
            (Sent(status=403), "refuses requests from here; the setting CONTACT"),
            (Sent(b"<p>Sign in to this network</p>"), "sent text/html, which is not a kind of page that can be read."),
            (Sent(b"[]", JSON), "did not send a reply that can be read (200)."),
            (
                failure("internal_api_error", "Caught exception\x1b[31m."),
                'turned the request down: "Caught exception[31m.".',
            ),
        ],
    )
    def test_an_error_of_the_server_is_one_sentence(self, wiki, sent, words):
        wiki.broken = lambda query: sent
        assert words in message_of(wikipedia(wiki))

    @pytest.mark.parametrize(
        "odd",
        [
            {"query": []},
            {"query": {"pages": {}}},
            {
                "query": {
                    "pages": [1, {}, {"title": 3, "revisions": [{"revid": 1}]}, {"title": "A", "revisions": ["x"]}]
                }
            },
            {"query": {"pages": [{"title": "A", "index": "x", "revisions": [{"revid": "y"}], "pageprops": []}]}},
            {"parse": 1},
        ],
    )
    def test_a_reply_of_an_unexpected_shape_finds_nothing(self, wiki, odd):
        wiki.broken = lambda query: Sent(json.dumps(odd).encode(), JSON)
        assert wikipedia(wiki).retrieve(QUESTION, 5) == ()

    def test_a_page_without_text_is_left_out_and_reported(self, wiki):
        picture = {"parse": {"title": "Kestrel Bridge", "revid": 11, "text": "<div><img src='x.png'></div>"}}
        wiki.broken = lambda query: Sent(json.dumps(picture).encode(), JSON) if "oldid" in query else None
        reported = []
        with listening(reported.append):
            assert wikipedia(wiki).retrieve(QUESTION, 5, "2020-01-01") == ()
        problems = [each.message for each in reported if isinstance(each, TroubleMet)]
        assert [each.code for each in problems] == [Code.ARTICLE_LEFT_OUT]


class TestWholeArticles:
    def test_the_article_behind_a_hit_is_the_revision_that_its_address_names(self, wiki):
        search = CorpusRegistry(None, live=wikipedia(wiki)).search([LIVE])
        hit = search.search(QUESTION, 5, "2020-01-01")[0]
        page = search.read(hit)
        assert (page.text, page.url, page.published) == (OLD, hit.url, "2019-05-01")
        assert search.destination == "good.test"

    @pytest.mark.parametrize(
        "url", ["", "https://other.test/w/index.php?title=A&oldid=1", "https://good.test/?oldid=x"]
    )
    def test_an_address_that_names_no_revision_of_this_wiki_has_no_article(self, wiki, url):
        with pytest.raises(CallFailed, match="The article A is not in the corpus"):
            CorpusSearch([wikipedia(wiki)]).read(SearchHit("A", "", "text", url))
        assert wiki.requests == []


class TestQueries:
    def test_search_operators_and_function_words_are_left_out(self):
        query = 'Was -"Seven Samurai" intitle:directed NOT by Akira OR Kurosawa* in 1954?'
        assert search_query(query) == "Seven Samurai intitle directed Akira Kurosawa 1954"

    def test_a_long_query_is_cut_between_words(self):
        query = search_query(" ".join(f"word{number}" for number in range(100)))
        assert len(query) <= 300 and query.endswith(" word43")
