"""A search at any of the providers: the query cut to its limits, asked in time, remembered, and cleaned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from functools import partial
from typing import Any

from app.backends.hosts import destination_of, host_of
from app.backends.http_outcome import Outcome
from app.backends.retries import Patience
from app.backends.web_search.complaints import complaint, key_trouble, no_results
from app.backends.web_search.hits import hits
from app.backends.web_search.line import Line
from app.backends.web_search.provider import Asking, Limits, Provider
from app.domain.calls import Call, remembered
from app.domain.errors import CallFailed
from app.domain.model import SearchHit, Usage
from app.domain.progress import entered, used


class Searching:
    """Implements `WebSearch` with one provider. Safe to share between threads; keep one for the life of the process."""

    def __init__(
        self,
        provider: Provider,
        call_seconds: float,
        patience: Patience | None = None,
        today: Callable[[], date] = date.today,
    ) -> None:
        """`call_seconds` is the most that one search takes, waits and further tries included."""
        self.name = provider.name
        self.title = provider.title
        self.destination = destination_of(provider.url)
        self._provider = provider
        self._call_seconds = call_seconds
        self._patience = patience or Patience()
        self._today = today
        self._line = Line(provider.url)

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """At most `k` hits, none of which is known to be published on the day `before` or later. Raises CallFailed.

        A query without any words is not sent and finds nothing. A search counts as one call.
        """
        words = shortened(query, self._provider.limits)
        if not words:
            return ()
        request = {"query": words, "k": k, "before": before}
        call = Call(f"{self._provider.name} at {self._provider.url}", request, costly=True)
        found = remembered(call, lambda: [asdict(hit) for hit in self._found(words, k, before)])
        return tuple(SearchHit(**hit) for hit in found)

    def _found(self, words: str, k: int, before: str | None) -> list[SearchHit]:
        """Hits as they are made from the reply: an age is counted from the day on which it was told."""
        limits = self._provider.limits
        asking = self._provider.asking(words, min(k, limits.hits), date.fromisoformat(before) if before else None)
        found = hits(self._listed(self._asked(asking)), self._provider.fields, self._today())
        return [hit for hit in found if not (before and hit.published and hit.published >= before)][:k]

    def _asked(self, asking: Asking) -> Outcome:
        """The reply with status 200. Raises CallFailed for everything else."""
        if trouble := key_trouble(self._provider):
            raise CallFailed(f"The search engine {self.title} {trouble}.")
        entered(f"searching with {self.title}")
        self._line.open()
        deadline = self._patience.clock() + self._call_seconds
        outcome = self._patience.outcome(partial(self._line.ask, asking), deadline, host_of(self._provider.url))
        if outcome.status != 200:
            raise CallFailed(complaint(outcome, self._provider, self._call_seconds))
        used(Usage(calls=1))
        return outcome

    def _listed(self, outcome: Outcome) -> list[Any]:
        """The results in a reply. Raises CallFailed when it is something else."""
        body = outcome.body
        listed = self._provider.results(body) if isinstance(body, dict) else None
        if not isinstance(listed, list):
            raise CallFailed(no_results(outcome, self._provider))
        return listed


def shortened(query: str, limits: Limits) -> str:
    """The query on one line, cut at the end of the last word that fits, or inside a word that alone is too long."""
    words = " ".join(query.split()[: limits.words])
    if len(words) <= limits.characters:
        return words
    kept, _, _ = words[: limits.characters + 1].rpartition(" ")
    return kept or words[: limits.characters]
