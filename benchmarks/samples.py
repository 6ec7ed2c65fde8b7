"""Checks every sample claim with the embedded default and prints what came out and how long it took.

    .venv/bin/python -m benchmarks.samples [--trails] [--write]

Models are warm and one run goes at a time. The median, the time to the first question and to the first whole hop are
what the README quotes; `--trails` prints every hop, to be read; `--write` stores the outcomes that the home page shows
(app/web/samples.json).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

from app.config.settings import load_settings
from app.container.container import Container
from app.domain.events import Event, QuestionAsked, RunStarted
from app.domain.model import Claim, HopStatus, RunOptions
from app.domain.report import Report, reduce_events
from app.web.forms import EXAMPLES, OUTCOMES, Example


def timed(container: Container, sample: Example) -> Iterator[tuple[Event, float]]:
    """The run's events with the seconds at which each came."""
    claim, options, started = Claim(sample.claim), RunOptions(), time.monotonic()
    yield RunStarted(claim, options), 0.0
    for event in container.strategy_for(options).run(claim, options):
        yield event, time.monotonic() - started


def first_question_and_hop(report: Report, events: list[tuple[Event, float]]) -> tuple[float, float]:
    """Seconds until the first question stood there, and until the first hop was whole."""
    question = next((at for event, at in events if isinstance(event, QuestionAsked)), report.seconds)
    return question, report.times[0][1] if report.times else report.seconds


def show(report: Report) -> None:
    """The trail, for reading."""
    for hop in report.hops:
        answer = hop.answer.text if hop.answer else None
        source = hop.answer.cited.passage.title if hop.answer and hop.answer.cited else "-"
        print(f"      {hop.number}. {hop.question.text}  ->  {answer}  [{source}]  {hop.status}: {hop.reason}")
    if report.verdict:
        print(f"      {report.stopped_because} Confidence {report.verdict.confidence}. {report.verdict.missing or ''}")
    print(f"      {report.problem}" if report.problem else "")


def outcome(report: Report) -> dict[str, Any]:
    """What the home page shows of a finished run, as `app.web.forms.Outcome` reads it."""
    steps = [
        {"question": hop.question.text, "answer": hop.answer.text, "title": cited.passage.title}
        for hop in report.context
        if hop.answer and (cited := hop.answer.cited)
    ]
    verdict = report.verdict
    if verdict is None:
        raise SystemExit(f"No verdict for {report.claim.text!r}: {report.problem}")
    reason = verdict.missing or next((each.text for each in verdict.rationale), "")
    return {
        "claim": report.claim.text,
        "label": verdict.label.value,
        "reason": reason,
        "steps": steps,
    }


def main() -> None:
    """Check them all; one line a sample, then the summary."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--trails", action="store_true", help="print every hop")
    arguments.add_argument("--write", action="store_true", help=f"store the outcomes in {OUTCOMES}")
    options = arguments.parse_args()
    container = Container(load_settings())
    container.warm()
    right, seconds, firsts, hops, outcomes = {}, [], [], [], []
    for sample in EXAMPLES:
        events = list(timed(container, sample))
        report = reduce_events(events)
        label = report.verdict.label if report.verdict else None
        right[sample.claim] = label == sample.label
        question, hop = first_question_and_hop(report, events)
        outcomes.append(outcome(report))
        seconds.append(report.seconds), firsts.append(question), hops.append(hop)
        kept = sum(h.status is HopStatus.KEPT for h in report.hops)
        mark = "right" if right[sample.claim] else "WRONG"
        print(f"{mark}  {report.seconds:5.1f} s  {kept} of {len(report.hops)} hops kept  {label!s:20} {sample.claim}")
        if options.trails:
            show(report)
    if options.write:
        OUTCOMES.write_text(json.dumps(outcomes, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    pairs = {sample.pair for sample in EXAMPLES if sample.pair}
    whole = [pair for pair in pairs if all(right[s.claim] for s in EXAMPLES if s.pair == pair)]
    print(f"\n{sum(right.values())} of {len(EXAMPLES)} right; {len(whole)} of {len(pairs)} pairs whole")
    print(f"median {statistics.median(seconds):.1f} s; first question {statistics.median(firsts):.1f} s", end="; ")
    print(f"first whole hop {statistics.median(hops):.1f} s (medians)")


if __name__ == "__main__":
    main()
