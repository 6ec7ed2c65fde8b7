"""The interface of a search provider, and error messages for failed searches."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, ClassVar

from app.backends.http import HttpResult, host_of, quoted

EARLIEST_DATE = date(1900, 1, 1)
"""Start of Brave's date range, which needs one, and the earliest day that is sent to any provider."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A provider's limits: characters and words of a query (None: any number), and hits of a reply."""

    characters: int = 400
    words: int | None = None
    hits: int = 20


@dataclass(frozen=True, slots=True)
class Fields:
    """A provider's names for the fields of a result. The first of `dates` that can be parsed is used."""

    title: str
    url: str
    snippet: str
    dates: tuple[str, ...]


@dataclass(frozen=True)
class Provider(ABC):
    """One provider with its key. `name` identifies it, `title` is shown, `setting` names its setting."""

    api_key: str = field(repr=False)
    url: str

    name: ClassVar[str]
    title: ClassVar[str]
    setting: ClassVar[str]
    limits: ClassVar[Limits]
    fields: ClassVar[Fields]
    key_header: ClassVar[tuple[str, str]] = ("", "")
    """Name of the header that holds the key, and what is before the key in it."""
    status_messages: ClassVar[Mapping[int, str]] = {}
    """Descriptions of statuses of its own, each continuing a sentence."""

    @abstractmethod
    def build_request(self, query: str, k: int, before: date | None) -> dict[str, Any]:
        """Return the method and the query or body of a request for `k` hits, as `http.send` takes them.

        The hits are published before `before` where the provider can filter by date.
        """

    @abstractmethod
    def results(self, body: Mapping[str, Any]) -> Any:
        """Return the list of results in a reply, None when there is none. Raises CallFailed for a reported failure."""


def last_day_before(day: date) -> date:
    """Return the day before `day`, but no day before EARLIEST_DATE."""
    return max(day, EARLIEST_DATE + timedelta(days=1)) - timedelta(days=1)


_WRONG_KEY = re.compile(rb"SUBSCRIPTION_TOKEN_INVALID|SUBSCRIPTION_NOT_FOUND|API_KEY_INVALID|x-subscription-token")
"""Brave's and Google's codes for a wrong, missing or unpaid key, which they report as bad requests."""


def key_problem(provider: Provider) -> str:
    """Describe why the key cannot be sent, continuing a sentence after the provider's name; "" when it can."""
    key = provider.api_key
    if not (key.isascii() and key.isprintable() and " " not in key):
        return f"cannot be asked: its key holds characters that no key has; look at {provider.setting}"
    return ""


def error_message(outcome: HttpResult, provider: Provider, seconds: float) -> str:
    """Return the sentence for a failed search; `seconds` is the time limit of one call."""
    subject = _subject(provider)
    if outcome.timed_out:
        return f"{subject} did not answer within {seconds:g} seconds."
    if outcome.error:
        return f"{subject} {outcome.error}."
    if known := provider.status_messages.get(outcome.status) or _by_status(outcome, provider):
        return f"{subject} {known} ({outcome.status})."
    message = quoted(_message_in(outcome.parsed), provider.api_key)
    return f"{subject} turned the search down ({outcome.status})" + (f': "{message}".' if message else ".")


def no_results(outcome: HttpResult, provider: Provider) -> str:
    """Return the sentence for a successful reply that holds no search results."""
    kind = outcome.headers.get("content-type", "").partition(";")[0].strip()
    sent = f", but {quoted(kind, provider.api_key)}" if kind and "json" not in kind else ""
    look = "" if provider.api_key else f": see that the address in {provider.setting} is right"
    return f"{_subject(provider)} did not send search results{sent}{look}."


def _subject(provider: Provider) -> str:
    return f"The search engine {provider.title} at {host_of(provider.url)}"


def _by_status(outcome: HttpResult, provider: Provider) -> str:
    status = outcome.status
    if outcome.has_no_credit:
        return "has no credit left for this account"
    if status in (401, 403) or (status in (400, 404, 422) and _WRONG_KEY.search(outcome.content)):
        return f"does not accept the key; look at {provider.setting}"
    if status == 429:
        return "has had too many searches; try again later"
    if 300 <= status < 400:
        return f"sends searches on to another address; look at {provider.setting}"
    if status == 404:
        return f"has no search there; look at {provider.setting}"
    return "failed" if status >= 500 else ""


def _message_in(body: Any, depth: int = 4) -> str:
    """Return the message in an error's body: the first text under a usual name, at most `depth` objects deep."""
    if isinstance(body, list):
        body = body[0] if body else None
    if not isinstance(body, dict) or depth == 0:
        return ""
    for name in ("message", "detail", "error", "errors"):
        found = body.get(name)
        text = found if isinstance(found, str) else _message_in(found, depth - 1)
        if text:
            return text
    return ""
