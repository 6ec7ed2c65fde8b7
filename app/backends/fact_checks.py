"""Look up published fact-checks with Google's Fact Check Tools API, GET claims:search.

Reference: developers.google.com/fact-check/tools/api. A reply lists claims, each with reviews that publishers marked up
as ClaimReview; it is `{}` if none was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import date
from typing import Any

from app.backends.web_search.base import Limits, Provider
from app.backends.web_search.registry import ProviderSearch, parse_date, plain_text, shorten_query, site_of
from app.domain.errors import CallFailed
from app.domain.instrumentation import Call, cached_call
from app.domain.model import FactCheck

MAX_FACT_CHECKS = 5
MAX_CHARACTERS = 300
"""Of each text of a fact-check."""


def fact_check(claim: object, publisher: object, rating: object, url: object, published: object) -> FactCheck | None:
    """Return a fact-check from texts of elsewhere; None without a rating or the address of a web page."""
    site = site_of(url) if isinstance(url, str) else ""
    rated = plain_text(rating, MAX_CHARACTERS)
    if not site or not rated or not isinstance(url, str):
        return None
    named = plain_text(publisher, MAX_CHARACTERS) or site
    return FactCheck(plain_text(claim, MAX_CHARACTERS), named, rated, url, parse_date(published, date.today()))


class FactCheckTools(Provider):
    """Reference: claims:search, `query`, `pageSize`; the key goes into a header, which is not logged."""

    name = "fact-checks"
    title = "Google Fact Check Tools"
    setting = "FACT_CHECK_API_KEY"
    key_header = ("X-Goog-Api-Key", "")
    limits = Limits(characters=400, hits=MAX_FACT_CHECKS)

    def build_request(self, query: str, k: int, before: date | None) -> dict[str, Any]:
        """Build the request; the API cannot filter by a last day."""
        return {"method": "GET", "params": {"query": query, "pageSize": k}}

    def results(self, body: Mapping[str, Any]) -> Any:
        return body.get("claims", [])


class FactCheckSearch(ProviderSearch):
    """Finds published fact-checks of a claim. Thread-safe; keep one per process."""

    def look_up(self, claim: str) -> tuple[FactCheck, ...]:
        """Return at most MAX_FACT_CHECKS fact-checks of claims like this one, best first. Raises CallFailed."""
        if not self._provider.api_key:
            raise CallFailed(f"No key is set up ({self._provider.setting}).")
        words = shorten_query(claim, self._provider.limits)
        call = Call(f"{self.name} at {self._provider.url}", {"query": words}, costly=True)
        found = cached_call(call, lambda: [asdict(each) for each in self._reviews(words)][:MAX_FACT_CHECKS])
        return tuple(FactCheck(**each) for each in found)

    def _reviews(self, words: str) -> Iterator[FactCheck]:
        request = self._provider.build_request(words, self._provider.limits.hits, None)
        for claim in self._listed(self._fetched(request)):
            for review in _objects(claim.get("claimReview")) if isinstance(claim, dict) else ():
                publisher = review.get("publisher")
                name = publisher.get("name") or publisher.get("site") if isinstance(publisher, dict) else None
                rating, day = review.get("textualRating"), review.get("reviewDate")
                if found := fact_check(claim.get("text"), name, rating, review.get("url"), day):
                    yield found


def _objects(listed: object) -> list[dict[str, Any]]:
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
