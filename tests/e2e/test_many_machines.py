"""Followers of a run miss nothing when a web process dies or the site answers 503 for a while."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator

import pytest

from app import create_app
from app.config.settings import Settings
from tests import redis_server
from tests.e2e.conftest import serving
from tests.e2e.test_browser import check, expect_verdict
from tests.e2e.test_trail import assert_as_loaded
from tests.fakes import Gate, scripted_container
from tests.faults.followers import Follower
from tests.faults.front import front
from tests.faults.servers import START_SECONDS, run_id
from tests.faults.site import Site, site
from tests.faults.test_kill import kill
from tests.waiting import LONG, until

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

BY_PAGE, BY_API, TABS = 20, 5, 2
"""Numbers of followers: of the page's stream, of the API's stream (one message per event), and in Chromium."""


@pytest.fixture
def cluster(tmp_path, postgresql) -> Iterator[Site]:
    with redis_server.running() as redis, site(tmp_path / "instance", postgresql, redis) as made:
        yield made


def test_followers_miss_no_card_or_event_when_a_web_process_is_killed(cluster, visitor, tmp_path):
    one, other = (cluster.web(THREADS="80") for _ in range(2))
    held = tmp_path / "held"
    held.touch()
    with front([one.address, other.address]) as address:
        tabs = opened([visitor() for _ in range(TABS)], address)
        run = run_id(tabs[0].url)
        by_page = following([f"{address}/runs/{run}/events"] * BY_PAGE)
        by_api = following([f"{address}/api/v1/runs/{run}/events"] * BY_API)
        cluster.worker(STEP_SECONDS="0.7", STUCK_IN="answer 2", HELD_BY=str(held))
        for tab in tabs:
            expect(tab.locator("#hop-2 h3")).to_be_visible(timeout=1000 * START_SECONDS)
        kill(one, whole=True)
        held.unlink()  # from here on a follower gets events only after reconnecting
        for tab in tabs:
            expect_verdict(tab)
        for each in by_page + by_api:
            each.join(LONG)
        events = cluster.events(run)
        for each in by_page:
            assert_missed_nothing(each, events)
        assert [each.ids for each in by_api] == [list(range(1, len(events) + 1))] * BY_API
        assert all(each.ended and each.cuts <= 1 for each in by_page + by_api)
        streams = re.compile(rf"GET (/api/v1)?/runs/{run}/events 200 ")
        until(lambda: len(streams.findall(other.said())) == BY_PAGE + BY_API + TABS, "all of them on the other one")
        for tab in tabs:
            assert_shows_all(tab)


class Away:
    """A site whose streams break off at the first question and then answer 503 for `refusals` requests."""

    def __init__(self, app, refusals: int) -> None:
        self._app = app
        self.refusals = refusals
        self.cut = False
        self.asked = threading.Event()

    def __call__(self, environ, start_response) -> Iterable[bytes]:
        if not environ["PATH_INFO"].endswith("/events"):
            return self._app(environ, start_response)
        self.asked.set()
        if self.cut and self.refusals:
            self.refusals -= 1
            start_response("503 Service Unavailable", [("Content-Type", "text/plain")])
            return [b"The database does not answer."]
        return self._until_cut(self._app(environ, start_response))

    def _until_cut(self, sent) -> Iterable[bytes]:
        try:
            for chunk in sent:
                yield re.sub(rb"^retry: \d+", b"retry: 100", chunk)
                if not self.cut and b"Who wrote Hamlet?" in chunk:
                    self.cut = True
                    return
        finally:
            sent.close()


def test_a_browser_that_gets_503_for_a_while_reconnects_and_misses_no_card(tmp_path, database_url, visitor):
    gate = Gate("question 1")
    app = create_app(Settings(instance=tmp_path, database_url=database_url), scripted_container(gate=gate, delay=0.5))
    away = Away(app, refusals=2)
    with serving(app, away) as address:
        tab = visitor()
        check(tab, address)
        assert away.asked.wait(LONG)
        gate.open()
        expect_verdict(tab)
        assert away.cut and not away.refusals
        assert_shows_all(tab)


def opened(tabs: list, address: str) -> list:
    """Start a run in the first tab, open its page in the others, and return all tabs."""
    check(tabs[0], address)
    for tab in tabs[1:]:
        tab.goto(tabs[0].url)
    return tabs


def following(addresses: list[str]) -> list[Follower]:
    """Start one follower per address."""
    followers = [Follower(each) for each in addresses]
    for each in followers:
        each.start()
    return followers


def assert_missed_nothing(follower: Follower, events: list[tuple]) -> None:
    """Check that each message continues where the last one ended and has the card of every hop that changed."""
    at = 0
    for seq, _, html in follower.told:
        if seq is None:
            continue
        assert seq > at, "no event was sent twice"
        touched = {body["hop"] for _, _, body in events[at:seq] if body.get("hop")}
        assert touched <= {int(hop) for hop in re.findall(r'<li id="hop-(\d+)"', html)}, "no event was left out"
        at = seq
    assert at == len(events) and follower.ended
    assert 'id="verdict-heading"' in follower.told[-2].data


def assert_shows_all(tab) -> None:
    """Check that the stream alone brought every card once, in order, and the verdict, as on a reloaded page."""
    expect(tab.locator("li.hop h3")).to_have_text(["Who wrote Hamlet?", "Where was William Shakespeare born?"])
    expect(tab.locator("li.hop .chip")).to_have_text(["Used", "Used"])
    expect(tab.locator("#verdict-heading")).to_have_count(1)
    assert len([each for each in tab.addresses if re.search(r"/runs/[\w-]+$", each)]) == 1, "it was loaded once"
    assert_as_loaded(tab)
