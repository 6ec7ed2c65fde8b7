"""A search provider's failure as one clear sentence for the page: what went wrong and where to look, and no key."""

from __future__ import annotations

import re
from typing import Any

from app.backends.hosts import host_of
from app.backends.http_outcome import Outcome, quoted
from app.backends.web_search.provider import Provider

_WRONG_KEY = re.compile(rb"SUBSCRIPTION_TOKEN_INVALID|SUBSCRIPTION_NOT_FOUND|x-subscription-token")
"""Brave's words for a wrong, a missing and an unpaid key, which it calls bad requests."""
_SPENT = re.compile(rb"QUOTA_LIMITED|not enough credits", re.IGNORECASE)
"""Brave's and Serper's words for an account that has nothing left."""


def key_trouble(provider: Provider) -> str:
    """Why the key cannot be sent, going on from the provider's name in a sentence; "" when nothing is known."""
    key = provider.api_key
    if key is None:
        return ""
    if not key:
        return f"cannot be asked: its key is missing; set {provider.setting}"
    if not (key.isascii() and key.isprintable() and " " not in key):
        return f"cannot be asked: its key holds characters that no key has; look at {provider.setting}"
    return ""


def complaint(outcome: Outcome, provider: Provider, seconds: float) -> str:
    """The sentence for an outcome without results; `seconds` is what one call may take."""
    who = _who(provider)
    if outcome.late:
        return f"{who} did not answer within {seconds:g} seconds."
    if outcome.trouble:
        return f"{who} {outcome.trouble}."
    if known := provider.refusal(outcome.status) or _by_status(outcome, provider):
        return f"{who} {known} ({outcome.status})."
    said = quoted(_told(outcome.body), provider.api_key)
    return f"{who} turned the search down ({outcome.status})" + (f': "{said}".' if said else ".")


def no_results(outcome: Outcome, provider: Provider) -> str:
    """The sentence for a reply that came well and holds something else."""
    kind = outcome.headers.get("content-type", "").partition(";")[0].strip()
    sent = f", but {quoted(kind, provider.api_key)}" if kind and "json" not in kind else ""
    look = "" if provider.api_key else f": see that the address in {provider.setting} is right"
    return f"{_who(provider)} did not send search results{sent}{look}."


def _who(provider: Provider) -> str:
    return f"The search engine {provider.title} at {host_of(provider.url)}"


def _by_status(outcome: Outcome, provider: Provider) -> str:
    status = outcome.status
    if status == 402 or _SPENT.search(outcome.content):
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


def _told(body: Any, depth: int = 4) -> str:
    """The message in an error's body, wherever the provider puts it: the first text under a name for messages."""
    if isinstance(body, list):
        body = body[0] if body else None
    if not isinstance(body, dict) or depth == 0:
        return ""
    for name in ("message", "detail", "error", "errors"):
        told = body.get(name)
        if text := told if isinstance(told, str) else _told(told, depth - 1):
            return text
    return ""
