"""Metrics for Prometheus: numbers of runs, read from the database at each scrape, and durations in this process.

Importing prometheus_client takes a third of a second, so only processes that serve metrics import this module.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from app.domain.errors import HopcheckError
from app.domain.events import Event, HopFailed, HopKept, HopSetAside, QuestionAsked, TokensUsed
from app.domain.instrumentation import Call
from app.runs.projections import RunQueries
from app.runs.runner import MetricsSink

BUCKET_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
"""Upper bounds of the histogram buckets: from a local model's call to a run's time limit."""

OUTCOMES: dict[type[Any], str] = {HopKept: "kept", HopSetAside: "set_aside", HopFailed: "failed"}


class Metrics(MetricsSink):
    """Serves the metrics of this process."""

    def __init__(self, queries: RunQueries, followers: Callable[[], int] | None = None) -> None:
        """Register the metrics; `followers` counts the followers in this process, None in a worker without any."""
        self.registry = CollectorRegistry()
        self.registry.register(_DatabaseCollector(queries, followers))
        options: dict[str, Any] = {"registry": self.registry}
        self._hops = Histogram(
            "hopcheck_hop_seconds",
            "From a question to the decision on its answer.",
            ["outcome"],
            buckets=BUCKET_SECONDS,
            **options,
        )
        self._calls = Histogram(
            "hopcheck_call_seconds", "Calls of models and search engines.", ["model"], buckets=BUCKET_SECONDS, **options
        )
        self._tokens = Counter("hopcheck_tokens", "Tokens of language models.", ["kind"], **options)
        self._cached = Counter("hopcheck_cache_hits", "Calls answered with a stored reply.", **options)
        self._asked_at: dict[str, float] = {}

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def record(self, run_id: str, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            self._asked_at[run_id] = time.monotonic()
        elif isinstance(event, TokensUsed):
            self._tokens.labels("prompt").inc(event.usage.prompt_tokens)
            self._tokens.labels("completion").inc(event.usage.completion_tokens)
            self._cached.inc(event.usage.cached)
        elif type(event) in OUTCOMES and (asked_at := self._asked_at.pop(run_id, None)) is not None:
            self._hops.labels(OUTCOMES[type(event)]).observe(time.monotonic() - asked_at)

    def forget(self, run_id: str) -> None:
        self._asked_at.pop(run_id, None)

    def record_call(self, call: Call, seconds: float) -> None:
        self._calls.labels(call.model).observe(seconds)


class _DatabaseCollector(Collector):
    """Reads the gauges from the database at each scrape."""

    def __init__(self, queries: RunQueries, followers: Callable[[], int] | None) -> None:
        self._queries = queries
        self._followers = followers

    def collect(self) -> Iterable[GaugeMetricFamily]:
        try:
            counts, waiting = self._queries.counts(), self._queries.waiting()
        except HopcheckError:
            yield GaugeMetricFamily("hopcheck_database_up", "Whether the database can be read.", 0)
        else:
            yield GaugeMetricFamily("hopcheck_database_up", "Whether the database can be read.", 1)
            runs = GaugeMetricFamily("hopcheck_runs", "Runs that are stored.", labels=["state", "label"])
            for kind, number in counts.items():
                runs.add_metric(kind, number)
            yield runs
            yield GaugeMetricFamily("hopcheck_runs_waiting", "Unfinished runs that no process carries out.", waiting)
        if self._followers:
            yield GaugeMetricFamily("hopcheck_followers", "Open streams of this process.", self._followers())
