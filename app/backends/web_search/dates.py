"""When a search provider says that a page was published, as an ISO date, in the forms that the four providers use.

    2026-09-01, 2026-09-01T08:00:00Z          SearXNG, Brave (page_age), Tavily
    Tue, 01 Sep 2026 08:00:00 GMT             Tavily, for news
    September 1, 2026; Sep 1, 2026; 1 Sep 2026  Brave (age), Serper
    3 days ago, an hour ago                   Brave (age), Serper

The day is taken as it is written, in whatever zone. An age is the latest day that it can mean: "2 months ago" tells no
day, and evidence must not seem older than it is.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime

_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})(?![\d-])")
_AGO = re.compile(r"(\d{1,4}|an?|one)\s+(second|sec|minute|min|hour|day|week|month|year)s?\s+ago", re.IGNORECASE)
_RFC = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4}\b")
_DAYS = {"day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0, "hour": 1 / 24}
_WRITTEN = ("%B %d, %Y", "%b %d, %Y", "%d %b %Y", "%d %B %Y")
LONGEST = 100
"""Characters; a date is no longer."""


def published(said: object, today: date) -> str | None:
    """The ISO date in what a provider says, None when it says none that can be read."""
    text = said.strip() if isinstance(said, str) else ""
    if not text or len(text) > LONGEST:
        return None
    try:
        return _day(text, today).isoformat()
    except (ValueError, OverflowError):
        return None


def _day(text: str, today: date) -> date:
    """Raises ValueError or OverflowError when the text is no date."""
    if iso := _ISO.match(text):
        return date.fromisoformat(iso[1])
    if ago := _AGO.fullmatch(text):
        many = int(ago[1]) if ago[1].isdecimal() else 1
        return today - timedelta(days=int(many * _DAYS.get(ago[2].lower(), 0.0)))
    if _RFC.match(text):
        return parsedate_to_datetime(text).date()
    for form in _WRITTEN:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    raise ValueError(text)
