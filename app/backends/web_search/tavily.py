"""Tavily: POST /search with the key as a bearer token.

Tavily's reference (docs.tavily.com, API reference, "Tavily Search"): at most 20 results; `end_date` selects pages
published or last updated before that day; only news results have dates. A query has at most 400 characters. Status 432
or 433: the limit of the plan or the account is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.backends.web_search.base import Fields, Limits, Provider, last_day_before


@dataclass(frozen=True)
class Tavily(Provider):
    """Requests a basic search, which costs least, without a generated answer."""

    url: str = "https://api.tavily.com/search"

    name = "tavily"
    title = "Tavily"
    setting = "TAVILY_API_KEY"
    key_header = ("Authorization", "Bearer ")
    limits = Limits(characters=400, hits=20)
    fields = Fields("title", "url", "content", ("published_date",))
    status_messages = dict.fromkeys((432, 433), "has no credit left for this account")

    def build_request(self, query: str, k: int, before: date | None) -> dict[str, Any]:
        """Build the request.

        The reference excludes `end_date` from the range, but the documentation of some clients includes it. The day
        before is sent, so that no page of the day `before` is returned in either case.
        """
        asked: dict[str, Any] = {"query": query, "max_results": k, "search_depth": "basic", "include_answer": False}
        if before:
            asked["end_date"] = last_day_before(before).isoformat()
        return {"method": "POST", "json": asked}

    def results(self, body: Mapping[str, Any]) -> Any:
        """Return the results; the list is empty where nothing was found."""
        return body.get("results")


PROVIDER = Tavily
