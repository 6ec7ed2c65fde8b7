"""What may be evidence: nothing from the future, known sites, addresses that can be shown; and how a hit is shown.

What a search or a page says is cleaned here, once, before a model or a person sees it (app/text/normalise.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from app.domain.errors import CallFailed
from app.domain.model import Claim, Origin, Page, Passage, SearchHit
from app.modules.answering.web_windows import PAGE_CHARACTERS
from app.text.fact_checkers import is_fact_check
from app.text.normalise import visible_text

TITLE_CHARACTERS, SNIPPET_CHARACTERS = 300, 2_000
_ADDRESSES = ("http://", "https://")


def day_of(published: str | None) -> date | None:
    """The day of an ISO date or time; None for anything else, a year or a month alone included."""
    try:
        return date.fromisoformat((published or "")[:10])
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Admission:
    """What may be evidence for one claim. `before` is the claim's date: nothing from that day on may.

    `undated` admits what has no date all the same, `fact_checks` what a fact-checker wrote.
    """

    before: date | None = None
    undated: bool = True
    fact_checks: bool = True

    @classmethod
    def for_claim(cls, claim: Claim, undated: bool, fact_checks: bool) -> Admission:
        """Raises CallFailed for a claim whose date is none: searching without it could find the future."""
        if claim.date is None:
            return cls(None, undated, fact_checks)
        before = day_of(claim.date)
        if before is None:
            raise CallFailed("The date of the claim cannot be read, so nothing was searched for.")
        return cls(before, undated, fact_checks)

    def admits(self, url: str | None, published: str | None) -> bool:
        """Whether a document with this address and date may be evidence."""
        return self._of_known_kind(url) and self._in_time(published, self.undated)

    def may_admit(self, hit: SearchHit) -> bool:
        """Whether the hit's page may turn out to be evidence: the page of an undated hit may have a date."""
        return self._of_known_kind(hit.url) and self._in_time(hit.published, True)

    def _of_known_kind(self, url: str | None) -> bool:
        return self.fact_checks or not is_fact_check(url)

    def _in_time(self, published: str | None, undated: bool) -> bool:
        if self.before is None:
            return True
        day = day_of(published)
        return undated if day is None else day < self.before


def cleaned_hits(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """The hits as they may be shown, each once. One whose address is no web address is left out.

    A corpus may have documents without any address: "" stands for none, and stays.
    """
    shown = (_cleaned(hit) for hit in hits if not hit.url or hit.url.lower().startswith(_ADDRESSES))
    return list(dict.fromkeys(shown))


def _cleaned(hit: SearchHit) -> SearchHit:
    return replace(
        hit,
        title=visible_text(hit.title)[:TITLE_CHARACTERS],
        site=visible_text(hit.site)[:TITLE_CHARACTERS],
        snippet=visible_text(hit.snippet)[:SNIPPET_CHARACTERS],
        published=_shown_day(hit.published),
    )


def cleaned_page(page: Page, hit: SearchHit) -> Page:
    """The page as it may be shown; what it does not say of itself is taken from the hit that led there."""
    title, site = visible_text(page.title)[:TITLE_CHARACTERS], visible_text(page.site)[:TITLE_CHARACTERS]
    return Page(
        page.url if page.url.lower().startswith(_ADDRESSES) else hit.url,
        title or hit.title,
        site or hit.site,
        visible_text(page.text[:PAGE_CHARACTERS]),
        _shown_day(page.published) or hit.published,
    )


def _shown_day(published: str | None) -> str | None:
    day = day_of(published)
    return day.isoformat() if day else None


def passage_of_hit(hit: SearchHit, origin: Origin) -> Passage:
    """The hit as a passage; its title stands in for a snippet that it has not."""
    return Passage(hit.snippet or hit.title, hit.title, hit.site, hit.url or None, hit.published, origin)


def passage_of_page(page: Page, text: str, origin: Origin) -> Passage:
    """A stretch of a page as a passage."""
    return Passage(text, page.title, page.site, page.url or None, page.published, origin)
