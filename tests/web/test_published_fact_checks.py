"""Published fact-checks stand beside the verdict: from Google's API, here a stub, and from the markup of pages."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from app.backends.fact_checks import FactCheckSearch, FactCheckTools, fact_check
from app.backends.fetch.html import extract_text
from app.backends.http import RetryPolicy
from app.config.settings import Settings
from app.container.container import Container
from app.domain.events import FactChecksFound
from app.domain.instrumentation import MemoryStore, listening, use_stores
from app.domain.model import FactCheck, RunOptions
from app.strategies.fact_checks import WithFactChecks
from tests.backends.web_search.search_server import KEY, Reply, SearchServer
from tests.fakes import scripted_container
from tests.modules.answering.test_web_search import SNIPPET, TEXT, ask, at
from tests.modules.answering.web_fakes import hit
from tests.web.conftest import ended_run
from tests.web.test_batches import fed_until, started
from tests.web.test_import import imported

CLAIM = "Hamlet's author was born in England."
REVIEW = {
    "publisher": {"name": "The Stage", "site": "stage.example"},
    "url": "https://stage.example/hamlet",
    "title": "Who wrote it",
    "reviewDate": "2020-03-04T10:00:00Z",
    "textualRating": "Mostly <b>true</b>",
    "languageCode": "en",
}
PUBLISHED = FactCheck("Shakespeare was English.", "The Stage", "Mostly true", REVIEW["url"], "2020-03-04")


def reply(*reviews: object) -> Reply:
    return Reply({"claims": [{"text": PUBLISHED.claim, "claimant": "A post", "claimReview": list(reviews)}]})


def searching(url: str, key: str = KEY, seconds: float = 5) -> FactCheckSearch:
    return FactCheckSearch(FactCheckTools(key, url), seconds, RetryPolicy(sleep=lambda seconds: None))


def test_a_claim_is_looked_up_once_with_the_key_outside_of_the_address():
    with SearchServer([reply(REVIEW)]) as server, use_stores(MemoryStore()):
        search = searching(server.url)
        assert search.look_up(CLAIM) == search.look_up(CLAIM) == (PUBLISHED,)
    (asked,) = server.asked
    assert (asked.method, asked.params["query"], asked.headers["x-goog-api-key"]) == ("GET", CLAIM, KEY)
    assert KEY not in str(asked.params)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"publisher": {"site": "stage.example"}}, replace(PUBLISHED, publisher="stage.example")),
        ({"publisher": None}, replace(PUBLISHED, publisher="stage.example")),
        ({"reviewDate": "some day"}, replace(PUBLISHED, published=None)),
        ({"textualRating": "x" * 9999}, replace(PUBLISHED, rating="x" * 299 + "…")),
        ({"textualRating": ["False"]}, None),
        ({"url": "javascript:alert(1)"}, None),
        ({"url": 7}, None),
    ],
)
def test_a_review_needs_a_rating_and_the_address_of_a_page(change, found):
    with SearchServer([reply(REVIEW | change, "no review", None)]) as server:
        assert searching(server.url).look_up(CLAIM) == ((found,) if found else ())


@pytest.mark.parametrize("markup", ["%s", "[%s]", '{"@graph": [{"@type": "WebSite"}, %s]}'])
def test_the_claim_reviews_in_the_markup_of_a_page_are_read(markup):
    review = {
        "@type": ["Article", "ClaimReview"],
        "claimReviewed": PUBLISHED.claim,
        "author": [{"@type": "Organization", "name": "The Stage"}],
        "reviewRating": {"@type": "Rating", "ratingValue": 4, "alternateName": "Mostly true"},
        "datePublished": "2020-03-04",
    }
    script = f'<script type="application/ld+json">{markup % json.dumps(review)}</script>'
    page = extract_text(f"<html><head>{script}</head><body><p>Words.</p></body></html>", REVIEW["url"])
    assert [fact_check(**each) for each in page.claim_reviews] == [PUBLISHED]


MICRODATA = """<div itemscope itemtype="https://schema.org/ClaimReview" style="display: none">
<p itemprop="claimReviewed">Shakespeare <b>was</b>\n English.</p>
<time itemprop="datePublished" datetime="2020-03-04">March</time>
<div itemprop="itemReviewed" itemscope><a itemprop="author name url" href="https://other.example">A post</a></div>
<div itemprop="reviewRating" itemscope itemtype="https://schema.org/Rating">
<meta itemprop="ratingValue" content="4"><i itemprop="alternateName">Mostly true</i></div>
<div itemprop="author publisher" itemscope><div><span itemprop="name">The Stage</span></div></div></div>"""


@pytest.mark.parametrize(
    "nested", ["%s", "<main itemscope itemtype='https://schema.org/WebPage'><p>Before.</p>%s</main>"]
)
def test_the_claim_reviews_in_the_microdata_of_a_page_are_read(nested):
    page = extract_text(f"<html><body>{nested % MICRODATA}<p>Words.</p></body></html>", REVIEW["url"])
    assert [fact_check(**each) for each in page.claim_reviews] == [PUBLISHED] and page.is_fact_check


@pytest.mark.parametrize("admitted", [True, False])
def test_the_fact_checks_of_a_page_are_reported_whether_or_not_the_page_is_evidence(admitted):
    marked, reported = hit(1, SNIPPET), []
    page = at(marked, TEXT, is_fact_check=True, fact_checks=(PUBLISHED,))
    with listening(reported.append):
        assert (ask(marked, pages=[page], fact_checks=admitted).text is not None) == admitted
    assert FactChecksFound((PUBLISHED,)) in reported


def test_the_key_in_the_settings_offers_the_lookup_and_names_where_claims_go(tmp_path):
    container = Container(Settings(instance=tmp_path, fact_check_api_key=KEY))
    offered = container.capabilities().fact_checks
    assert offered.available and offered.destination == "factchecktools.googleapis.com"
    on_live = RunOptions(corpora=("wikipedia-live",))
    assert isinstance(container.strategy_for(replace(on_live, look_up_fact_checks=True)), WithFactChecks)
    assert not isinstance(container.strategy_for(on_live), WithFactChecks)
    assert Container(Settings(instance=tmp_path)).capabilities().fact_checks.mend == "FACT_CHECK_API_KEY"


@pytest.fixture
def report(make_app):
    """Check the claim with a lookup at this server, or without one, and return the browser and the report's path."""

    def check(search: FactCheckSearch | None):
        client = make_app(scripted_container(look_up=search and search.look_up)).test_client()
        ticked = {"look_up_fact_checks": "yes"} if search else {}
        return client, ended_run(client, CLAIM, **ticked)

    return check


def test_the_lookup_is_shown_and_exported_and_changes_nothing_of_the_verdict(report):
    """The exports of a check with the lookup and of one without differ in nothing but the fact-checks and times."""
    own = ("id", "created_at", "seconds", "usage", "options", "hops", "fact_checks")
    without, plain = report(None)
    expected = without.get(f"{plain}/export.json").json
    with SearchServer([reply(REVIEW)]) as server:
        client, path = report(searching(server.url))
    exported = client.get(f"{path}/export.json").json
    assert exported["fact_checks"] == [
        {"claim": PUBLISHED.claim, "publisher": "The Stage", "rating": "Mostly true"}
        | {"url": PUBLISHED.url, "published": "2020-03-04"}
    ]
    assert expected["fact_checks"] is None
    assert {name: each for name, each in exported.items() if name not in own} == {
        name: each for name, each in expected.items() if name not in own
    }
    for file in ("", "/export.html", "/export.md"):
        text = client.get(f"{path}{file}").text
        assert all(part in text for part in ("The Stage", "Mostly true", "2020-03-04", PUBLISHED.url)), file
    assert "The Stage" not in client.get(f"{path}/claimreview.json").text
    assert "The Stage" in client.get(imported(client, exported)).text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            Reply({"error": {"message": "API key not valid", "details": [{"reason": "API_KEY_INVALID"}]}}, 400),
            "the key",
        ),
        (Reply({"claims": 3}), "did not send"),
        (Reply({}, delay=30), "did not answer within 0.3 seconds"),
    ],
    ids=["wrong key", "other JSON", "silent"],
)
def test_a_failed_lookup_is_shown_as_such_and_the_check_has_its_verdict(report, answer, words):
    with SearchServer([answer]) as server:
        client, path = report(searching(server.url, seconds=0.3 if answer.delay else 5))
    page = client.get(path).text
    assert words in page and "Published fact-checks could not be looked up." in page
    exported = client.get(f"{path}/export.json").json
    assert (exported["label"], exported["fact_checks"]) == ("SUPPORTED", None)


def test_the_fact_checks_are_a_column_of_the_results_of_a_batch(make_app):
    other = replace(PUBLISHED, publisher="The Other", published=None)
    client = make_app(scripted_container(look_up=lambda claim: (PUBLISHED, other))).test_client()
    path = started(client, CLAIM, look_up_fact_checks="yes")
    fed_until(client, path, "1 of 1 checked")
    (record,) = csv.DictReader(io.StringIO(client.get(f"{path}/results.csv").text, newline=""))
    assert record["fact_checks"].splitlines() == [
        f"The Stage, Mostly true, 2020-03-04, {PUBLISHED.url}",
        f"The Other, Mostly true, {PUBLISHED.url}",
    ]
