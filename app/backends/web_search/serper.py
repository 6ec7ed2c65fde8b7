"""Serper: POST /search at google.serper.dev, Google's results, with the key in X-API-KEY.

The reference requires an account, so this follows the requests and replies of Serper's playground and clients: `q`,
`num`, and `organic` results with `title`, `link`, `snippet` and sometimes `date` ("Mar 5, 2024", "3 days ago"). `tbs`
is Google's own filter; its custom range of days (`cdr:1`) includes the last one. Status 403 means a wrong key, 400 may
mean no credit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from app.backends.web_search.base import Fields, Limits, Provider, last_day_before


@dataclass(frozen=True)
class Serper(Provider):
    """Google's results, from Serper."""

    url: str = "https://google.serper.dev/search"

    name = "serper"
    title = "Serper"
    setting = "SERPER_API_KEY"
    key_header = ("X-API-KEY", "")
    limits = Limits(characters=400, hits=100)
    fields = Fields("title", "link", "snippet", ("date",))

    def build_request(self, query: str, k: int, before: date | None) -> dict[str, Any]:
        """Build the request; Google's filter for days takes months first."""
        asked: dict[str, str | int] = {"q": query, "num": k}
        if before:
            asked["tbs"] = f"cdr:1,cd_max:{last_day_before(before):%m/%d/%Y}"
        return {"method": "POST", "json": asked}

    def results(self, body: Mapping[str, Any]) -> Any:
        """Return the results; Serper omits `organic` where nothing was found, but never `searchParameters`."""
        return body.get("organic", [] if "searchParameters" in body else None)


PROVIDER = Serper
