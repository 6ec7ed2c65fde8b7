"""Which hits and pages are admissible evidence, and how they are shown."""

from __future__ import annotations

from datetime import date

import pytest

from app.domain.model import Claim, Origin, Passage
from app.modules.answerers.web_documents import (
    EvidenceRules,
    clean_hits,
    clean_page,
    day_of,
    passage_of_hit,
    passage_of_page,
)
from tests.modules.answering.web_fakes import hit, page

ELSEWHERE = "https://a.example/x"


@pytest.mark.parametrize(
    ("published", "day"),
    [
        ("2020-10-31", date(2020, 10, 31)),
        ("2020-10-31T23:59:00Z", date(2020, 10, 31)),
        ("2020", None),
        ("2020-10", None),
        ("2020-13-45", None),
        ("31-10-2020", None),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_a_date_is_a_full_iso_date_or_unknown(published: str | None, day: date | None) -> None:
    """A year alone cannot be compared with a day."""
    assert day_of(published) == day


@pytest.mark.parametrize(
    ("published", "admitted"),
    [("2020-10-30", True), ("2020-10-31", False), ("2020-11-01", False), ("2021", True), (None, True)],
)
def test_documents_dated_on_or_after_the_claim_date_are_not_evidence(published: str | None, admitted: bool) -> None:
    claim = Claim("A claim.", date="2020-10-31")
    assert EvidenceRules.for_claim(claim, True, True).admits(ELSEWHERE, published) is admitted
    undated = day_of(published) is None
    assert EvidenceRules.for_claim(claim, False, True).admits(ELSEWHERE, published) is (admitted and not undated)


def test_hits_are_cleaned_before_use() -> None:
    """Invisible characters, entities and invalid dates are removed."""
    dirty = hit(1, "It opened in&nbsp;18\u200b89", "soon", title="T", site="s\x00")
    (shown,) = clean_hits([dirty])
    assert (shown.title, shown.site, shown.snippet, shown.published) == ("T", "s", "It opened in 1889", None)
    assert shown.url == dirty.url


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://a.example/x"])
def test_a_hit_without_a_web_url_is_dropped(url: str) -> None:
    assert clean_hits([hit(1, "a", url=url)]) == []


def test_a_pages_own_metadata_takes_precedence_over_the_hits() -> None:
    found = hit(1, "a", "2020-01-01")
    said = page(found, "Text\u200b", title="Own", site="own.example", published="2021-02-03T04:05")
    shown = clean_page(said, found)
    assert (shown.title, shown.site, shown.text, shown.published) == ("Own", "own.example", "Text", "2021-02-03")
    shown = clean_page(page(found, "Text", title="", site="", published="never"), found)
    assert (shown.title, shown.site, shown.published) == ("Title 1", "site1.example", "2020-01-01")


def test_hits_and_pages_become_passages_with_all_known_fields() -> None:
    found = hit(1, "a", "2020-01-01")
    assert passage_of_hit(found, Origin.WEB) == Passage(
        "a", "Title 1", "site1.example", "https://site1.example/page", "2020-01-01", Origin.WEB
    )
    assert passage_of_hit(hit(1, "", url=""), Origin.CORPUS).text == "Title 1"
    assert passage_of_hit(hit(1, "", url=""), Origin.CORPUS).url is None
    assert passage_of_page(page(found, "whole"), "part", Origin.WEB).text == "part"
