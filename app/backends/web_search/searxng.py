"""SearXNG, a search engine that an operator runs: POST /search as a form, format json.

SearXNG's documentation (docs.searxng.org, "Search API"): any number of results on a page and no way to ask for fewer;
a 403 where its settings do not list the format json. Its one filter by date, `time_range`, keeps results of the
last day, month or year, not those before a given day, so it is not sent. It queries other engines and reports which of
them did not answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from app.backends.http import quoted
from app.backends.web_search.base import Fields, Limits, Provider
from app.domain.errors import CallFailed, SettingsError


class Searxng(Provider):
    """No key is sent. Statuses differ between operators' settings."""

    name = "searxng"
    title = "SearXNG"
    setting = "SEARXNG_URL"
    limits = Limits(characters=400, hits=100)
    fields = Fields("title", "url", "content", ("publishedDate", "pubdate"))
    status_messages = {  # noqa: RUF012 - annotated in the base class
        401: "asks for a password, which it cannot be given",
        403: "does not give results as json: add json to search.formats in its settings.yml",
    }

    def __init__(self, base_url: str) -> None:
        """Use the site with this start page, perhaps with /search or a query. Raises SettingsError for another URL."""
        try:
            parts = urlsplit(base_url)
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable or "@" in base_url:
            raise SettingsError("SEARXNG_URL must be a URL like http://127.0.0.1:8080, without a password in it")
        path = parts.path.rstrip("/").removesuffix("/search") + "/search"
        super().__init__("", urlunsplit(parts._replace(path=path, fragment="")))

    def build_request(self, query: str, k: int, before: date | None) -> dict[str, Any]:
        """Build a form request, which keeps the query out of access logs, without SearXNG's command prefixes."""
        words = [word for each in query.split() if (word := each.lstrip("!:<"))]  # !engine, !!bang, :language, <seconds
        return {"method": "POST", "data": {"q": " ".join(words), "format": "json"}}

    def results(self, body: Mapping[str, Any]) -> Any:
        """Return the results. Raises CallFailed when there are none because engines did not answer."""
        found = body.get("results")
        pairs = body.get("unresponsive_engines")  # [name, reason]
        listed = pairs[:10] if isinstance(pairs, list) else []
        names = ", ".join(quoted(str(pair[0]), None) for pair in listed if isinstance(pair, list) and pair)
        if found == [] and names:
            raise CallFailed(f"SearXNG found nothing because these search engines did not answer it: {names}.")
        return found


PROVIDER = Searxng
