"""Measure the server's time for each page.

    python -m benchmarks.pages                  medians of 30 requests for each page
    python -m benchmarks.pages --rounds 100

The application answers in this process, with a fresh SQLite file that has stored runs, without loaded models, and with
compression as for a browser. The goal is a median under 100 ms for the home page and a finished report on an idle
machine with two cores. Other programs make it slower, so the machine's load and the CPU time are printed too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.config.settings import Settings
from app.domain.events import (
    AnswerFound,
    Event,
    HopKept,
    PhaseEntered,
    QuestionAsked,
    QuestioningEnded,
    RunStarted,
    SufficiencyJudged,
    TokensUsed,
    VerdictReached,
)
from app.domain.model import (
    Answer,
    Claim,
    Judgement,
    Label,
    Passage,
    Question,
    RunOptions,
    Sentence,
    Span,
    Usage,
    Verdict,
)

OWNER = "somebody"
RECENT = 20
"""Stored runs of the visitor: as many as the home page lists."""
WARM_UP = 3


def main() -> None:
    """Store runs, request each page, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        app = application(Path(folder))
        for at in range(RECENT):
            store_run(app, f"usual-{at}", hops=3, words=60)
        store_run(app, "largest", hops=10, words=500)
        client = app.test_client()
        with client.session_transaction() as session:
            session["owner"] = OWNER
        print(f"{'page':<42}{'median':>10}{'95%':>10}{'CPU':>11}{'sent':>10}")
        for name, path in pages():
            cost = measure(client, path, rounds)
            print(
                f"{name:<42}{cost.median:>7.1f} ms{cost.p95:>7.1f} ms{cost.cpu:>8.1f} ms{cost.kilobytes:>7.1f} KB",
                flush=True,
            )
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        app.extensions["hopcheck"].runs.stop()


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and path of each page."""
    yield f"home, {RECENT} recent runs", "/"
    yield "a finished report, 3 hops", "/runs/usual-0"
    yield "a finished report, 10 hops, 40,000 words", "/runs/largest"
    yield "history", "/history"
    yield "two runs compared", "/compare?run=usual-0&run=usual-1"
    yield "how it works", "/how-it-works"
    yield "what can be chosen", "/choices"
    yield "the API's page", "/api"
    yield "a finished report as JSON", "/api/v1/runs/usual-0"


def application(folder: Path) -> Flask:
    """Return the application with a fresh database and its real parts, none of them loaded."""
    from app.extensions import db

    settings = Settings(instance=folder, database_url=f"sqlite:///{folder / 'runs.sqlite3'}")
    app = create_app(settings, commands=False)
    with app.app_context():
        db.create_all()
    return app


def store_run(app: Flask, run_id: str, hops: int, words: int) -> None:
    """Store a finished run event by event, with passages of `words` words each."""
    from sqlalchemy.orm import sessionmaker

    from app.extensions import db
    from app.runs.event_store import EventStore
    from app.runs.leases import Leases

    with app.app_context():
        sessions = sessionmaker(db.engine)
    started = RunStarted(Claim("The author of Hamlet was born in England."), RunOptions(max_hops=max(5, hops)))
    log, leases = EventStore(sessions), Leases(sessions)
    log.create_run(run_id, OWNER, started)
    lease = leases.acquire(run_id)
    if lease is None:
        raise SystemExit(f"{run_id} is leased by another process")
    for event in run_events(hops, words):
        log.append(lease, event)
    leases.shutdown()


def run_events(hops: int, words: int) -> Iterator[Event]:
    """Yield the events of a run that keeps every hop and reads eight passages for each."""
    yield PhaseEntered("starting")
    for hop in range(1, hops + 1):
        yield QuestionAsked(hop, Question(f"Who is asked about in question {hop}?"))
        yield PhaseEntered("searching 13,652 passages")
        yield PhaseEntered("reading 8 passages")
        yield TokensUsed(Usage(1, 400, 20))
        yield AnswerFound(hop, answer(words))
        yield HopKept(hop, "It is tied to the claim.")
        yield SufficiencyJudged(Judgement(False, "More is needed."))
    yield QuestioningEnded("There was nothing left to ask.")
    sentences = tuple(Sentence(f"Hop {hop} says so.", (hop,)) for hop in range(1, hops + 1))
    yield VerdictReached(Verdict(Label.SUPPORTED, sentences, confidence=0.9))


def answer(words: int) -> Answer:
    """Return an answer in the first of eight passages."""
    text = "Shakespeare was born in Stratford. " + "More is written about him here. " * (words // 6)
    found = [
        Passage(text, f"Article {at}", "Vital articles", f"https://example.org/{at}", score=9 - at) for at in range(8)
    ]
    return Answer("Stratford", Span(found[0], 24, 33), tuple(found), "retriever-reader", 0.9)


class Cost(NamedTuple):
    """The cost of a request: milliseconds (median, 95th percentile, median CPU time) and kilobytes sent."""

    median: float
    p95: float
    cpu: float
    kilobytes: float


def measure(client: FlaskClient, path: str, rounds: int) -> Cost:
    """Return the cost of `rounds` requests, after WARM_UP requests that are not measured."""
    wall, cpu = [], []
    for _ in range(rounds + WARM_UP):
        wall_start, cpu_start = time.perf_counter(), time.thread_time()
        reply = client.get(path, headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
        wall.append(1000 * (time.perf_counter() - wall_start))
        cpu.append(1000 * (time.thread_time() - cpu_start))
        if reply.status_code != 200:
            raise SystemExit(f"{path} answers {reply.status_code}")
    wall, cpu = wall[WARM_UP:], cpu[WARM_UP:]
    p95 = statistics.quantiles(wall, n=20, method="inclusive")[-1]
    return Cost(statistics.median(wall), p95, statistics.median(cpu), len(reply.data) / 1024)


if __name__ == "__main__":
    main()
