"""What a search provider is: how it is asked, where its results are in the reply, and how it puts things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Protocol

EARLIEST = date(1900, 1, 1)
"""The first day that is searched for: a range needs a beginning, and no provider says how far back it looks."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a provider takes of a query, in characters and words (None: any number), and gives of hits."""

    characters: int = 400
    words: int | None = None
    hits: int = 20


@dataclass(frozen=True, slots=True)
class Fields:
    """What a provider calls the parts of one result. Of `dates` the first that can be read counts."""

    title: str
    url: str
    snippet: str
    dates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """One request. `sent` says what travels and how: {"params": {...}} in the address, "data" as a form, or "json"."""

    method: str
    sent: Mapping[str, Mapping[str, Any]]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class Provider(Protocol):
    """One provider with its key. `name` is chosen, `title` is shown, `setting` is what an operator looks at."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def setting(self) -> str: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def fields(self) -> Fields: ...
    @property
    def url(self) -> str: ...
    @property
    def api_key(self) -> str | None: ...

    def asking(self, query: str, k: int, before: date | None) -> Asking:
        """The request for `k` hits, published before that day where the provider can tell."""

    def results(self, body: Mapping[str, Any]) -> Any:
        """The list of results in a reply, None when it holds none. CallFailed when the reply says that it failed."""

    def refusal(self, status: int) -> str:
        """What an HTTP status means at this provider alone, going on from its name in a sentence; "" for the rest."""


def day_before(day: date) -> str:
    """The last day that is before `day`, as ISO writes it, and none before EARLIEST."""
    return (max(day, EARLIEST + timedelta(days=1)) - timedelta(days=1)).isoformat()
