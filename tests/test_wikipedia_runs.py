"""Whole checks with live Wikipedia: a real server that answers like MediaWiki, and the real local models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.backends.corpus.wikipedia import LIVE
from app.config.settings import load_settings
from app.container.container import Container
from app.domain.events import RunStarted
from app.domain.instrumentation import MemoryStore, use_stores
from app.domain.model import Claim, HopStatus, Label, RunOptions
from app.domain.report import Report, reduce_events
from tests.mediawiki import Article, Edit, MediaWikiServer, wikipedia

pytestmark = [pytest.mark.slow, pytest.mark.models, pytest.mark.timeout(1200)]

SAMURAI = (
    "Seven Samurai is a 1954 Japanese epic samurai film directed by Akira Kurosawa from a screenplay co-written with "
    "Shinobu Hashimoto and Hideo Oguni. It takes place in 1586 in the Sengoku period of Japanese history.\n\n\n"
    "== Plot ==\nA village of desperate farmers seeks to hire samurai to combat bandits who will return after the "
    "harvest to steal their crops.\n\n\n== Production ==\nIt was the most expensive film made in Japan at the time."
)
KUROSAWA = (
    "Akira Kurosawa was a Japanese filmmaker who directed 30 feature films in a career spanning six decades.\n\n\n"
    "== Early life ==\nKurosawa was born on 23 March 1910 in Oimachi in the Omori district of Tokyo. His father Isamu "
    "was a member of a samurai family from Akita Prefecture."
)
OLD_KUROSAWA = "Akira Kurosawa is a Japanese film director. He was born in Tokyo on March 23, 1910."
PEOPLE = "Tokyo is the capital of Japan. Many film directors live in Tokyo, and many films are made there."
CLAIM = "The director of Seven Samurai made 30 feature films."


@pytest.fixture
def wiki():
    with MediaWikiServer(
        Article("Seven Samurai", (Edit(101, "2002-01-01", SAMURAI),)),
        Article(
            "Akira Kurosawa", (Edit(201, "2003-01-01", OLD_KUROSAWA), Edit(202, "2025-01-01", KUROSAWA)), ("Kurosawa",)
        ),
        Article("Tokyo", (Edit(301, "2002-01-01", PEOPLE),)),
    ) as server:
        yield server


@pytest.fixture(scope="module")
def container() -> Container:
    return Container(replace(load_settings(), call_seconds=600))  # a call may be slow on a busy machine


def checked(container: Container, options: RunOptions, made_on: str | None = None) -> Report:
    claim = Claim(CLAIM, date=made_on)
    with use_stores(MemoryStore()):
        events = [RunStarted(claim, options), *container.strategy_for(options).run(claim, options)]
    return reduce_events((event, float(at)) for at, event in enumerate(events))


def cited(report: Report) -> list[str]:
    """Return the addresses of the passages that the kept steps cite, without the host."""
    return [hop.answer.cited.passage.url.partition("/w/")[2] for hop in report.context if hop.answer.cited]


def test_a_claim_is_checked_with_articles_of_live_wikipedia(container, wiki):
    container._registry.live = wikipedia(wiki)
    report = checked(container, RunOptions(corpora=(LIVE,)))
    assert report.ended == "verdict" and report.verdict.label is Label.SUPPORTED
    assert "index.php?title=Akira_Kurosawa&oldid=202" in cited(report)
    assert {hop.answer.cited.passage.source for hop in report.context} <= {
        f"Wikipedia, revision {number}, CC BY-SA 4.0" for number in (101, 202, 301)
    }


def test_a_dated_claim_is_checked_with_the_articles_of_its_time(container, wiki):
    container._registry.live = wikipedia(wiki)
    report = checked(container, RunOptions(corpora=(LIVE,), max_hops=1), "2020-10-31")
    seen = {passage.url.rpartition("=")[2] for hop in report.hops if hop.answer for passage in hop.answer.retrieved}
    assert report.ended == "verdict" and "201" in seen and "202" not in seen


def test_the_evidence_pursuit_reads_whole_articles_of_live_wikipedia(container, wiki):
    container._registry.live = wikipedia(wiki)
    options = RunOptions("evidence-pursuit", "web-search", search="corpus", corpora=(LIVE,), max_hops=1)
    report = checked(container, options)
    assert report.ended == "verdict" and report.hops
    read = [passage.url.partition("/w/")[2] for hop in report.hops if hop.answer for passage in hop.answer.retrieved]
    assert read and all(url.startswith("index.php?title=") for url in read)


def test_without_a_network_each_step_fails_with_a_sentence_that_says_so(container, wiki):
    def unknown(host, port):
        raise OSError("no network")

    container._registry.live = wikipedia(wiki, resolve=unknown)
    report = checked(container, RunOptions(corpora=(LIVE,)))
    assert report.hops and {hop.status for hop in report.hops} == {HopStatus.FAILED}
    assert all("Wikipedia could not be asked." in str(hop.reason) for hop in report.hops)
    assert wiki.requests == []
