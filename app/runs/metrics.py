"""What Prometheus is told. How many runs there are and wait is read from the database whenever somebody asks, and is
the same for all processes; what takes how long is measured in the process that carries runs out.

Importing this takes a third of a second, so only a process that is asked for its metrics does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from app.domain.calls import Call, ResponseStore
from app.domain.errors import HopcheckError
from app.domain.events import Event, HopFailed, HopKept, HopSetAside, QuestionAsked, TokensUsed
from app.runs.projections import Overview

BUCKET_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
"""Upper bounds of what is counted together: from a local model's call to a whole run's deadline."""

OUTCOMES: dict[type[Any], str] = {HopKept: "kept", HopSetAside: "set_aside", HopFailed: "failed"}


class Metrics:
    """Implements `MetricsSink`. `text` is what a scrape gets."""

    def __init__(self, overview: Overview, followers: Callable[[], int] | None = None) -> None:
        """`followers` says how many follow a run here; None where nobody can, as in a worker."""
        self.registry = CollectorRegistry()
        self.registry.register(_Counted(overview, followers))
        mine: dict[str, Any] = {"registry": self.registry}
        self._hops = Histogram(
            "hopcheck_hop_seconds", "From a question to whether it counts.", ["outcome"], buckets=BUCKET_SECONDS, **mine
        )
        self._calls = Histogram(
            "hopcheck_call_seconds", "Calls of models and search engines.", ["model"], buckets=BUCKET_SECONDS, **mine
        )
        self._tokens = Counter("hopcheck_tokens", "Tokens of language models.", ["kind"], **mine)
        self._cached = Counter("hopcheck_cache_hits", "Calls that were not made, for their reply was kept.", **mine)
        self._asked: dict[str, float] = {}

    def text(self) -> bytes:
        """Prometheus's text format."""
        return generate_latest(self.registry)

    def stored(self, run_id: str, event: Event) -> None:
        if isinstance(event, QuestionAsked):
            self._asked[run_id] = time.monotonic()
        elif isinstance(event, TokensUsed):
            self._tokens.labels("prompt").inc(event.usage.prompt_tokens)
            self._tokens.labels("completion").inc(event.usage.completion_tokens)
            self._cached.inc(event.usage.cached)
        elif type(event) in OUTCOMES and (asked := self._asked.pop(run_id, None)) is not None:
            self._hops.labels(OUTCOMES[type(event)]).observe(time.monotonic() - asked)

    def left(self, run_id: str) -> None:
        self._asked.pop(run_id, None)

    def stores(self) -> tuple[ResponseStore, ...]:
        return (_Stopwatch(self._calls),)


class _Stopwatch:
    """A response store without replies that times calls: used last, it sees each call that is made.

    Calls that fail are not timed: a run shows those.
    """

    def __init__(self, seconds: Histogram) -> None:
        self._seconds = seconds
        self._begun: dict[str, float] = {}

    def get(self, call: Call) -> None:
        self._begun[call.key] = time.monotonic()

    def put(self, call: Call, reply: Any) -> None:
        if (begun := self._begun.pop(call.key, None)) is not None:
            self._seconds.labels(call.model).observe(time.monotonic() - begun)


class _Counted(Collector):
    """What is counted anew for each scrape."""

    def __init__(self, overview: Overview, followers: Callable[[], int] | None) -> None:
        self._overview = overview
        self._followers = followers

    def collect(self) -> Iterable[GaugeMetricFamily]:
        try:
            counts, waiting = self._overview.counts(), self._overview.waiting()
        except HopcheckError:
            yield GaugeMetricFamily("hopcheck_database_up", "Whether the database can be read.", 0)
        else:
            yield GaugeMetricFamily("hopcheck_database_up", "Whether the database can be read.", 1)
            runs = GaugeMetricFamily("hopcheck_runs", "Runs that are stored.", labels=["state", "label"])
            for kind, number in counts.items():
                runs.add_metric(kind, number)
            yield runs
            yield GaugeMetricFamily("hopcheck_runs_waiting", "Runs that nobody carries out yet.", waiting)
        if self._followers:
            yield GaugeMetricFamily("hopcheck_followers", "Open streams of this process.", self._followers())
