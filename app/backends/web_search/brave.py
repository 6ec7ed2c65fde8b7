"""Brave Search: GET /res/v1/web/search with the key in X-Subscription-Token.

Brave's reference (api-dashboard.search.brave.com, API reference, "Web search"): a query has at most 400 characters and
50 words, a reply at most 20 web results, and `freshness` takes a range of days, first and last included. A page's
age is the most relevant date in its content: published or last modified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.backends.web_search.base import EARLIEST_DATE, Fields, Limits, Provider, last_day_before


@dataclass(frozen=True)
class Brave(Provider):
    """A wrong key gives status 422, an exhausted monthly quota 429 with the code QUOTA_LIMITED."""

    url: str = "https://api.search.brave.com/res/v1/web/search"

    name = "brave"
    title = "Brave"
    setting = "BRAVE_API_KEY"
    key_header = ("X-Subscription-Token", "")
    limits = Limits(characters=400, words=50, hits=20)
    fields = Fields("title", "url", "description", ("page_age", "age"))

    def build_request(self, query: str, k: int, before: date | None) -> dict[str, Any]:
        """Build the request, with search operators and Brave's spelling correction turned off."""
        asked: dict[str, str | int] = {
            "q": query,
            "count": k,
            "result_filter": "web",
            "text_decorations": "false",
            "operators": "false",
            "spellcheck": "false",
        }
        if before:
            asked["freshness"] = f"{EARLIEST_DATE}to{last_day_before(before)}"
        return {"method": "GET", "params": asked}

    def results(self, body: Mapping[str, Any]) -> Any:
        """Return the results, [] for a search reply without `web`, which Brave omits where nothing was found."""
        web = body.get("web")
        if web is None:
            return [] if body.get("type") == "search" else None
        return web.get("results") if isinstance(web, dict) else None


PROVIDER = Brave
