"""Check every sample claim with the default setup, one at a time with warm models, and print verdicts and times.

    .venv/bin/python -m research.measure.samples [--trails] [--write]

`--trails` prints every hop; `--write` stores the outcomes that the home page shows (app/web/samples.json).
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
from app.domain.model import Claim, RunOptions
from app.domain.report import Report, reduce_events
from app.web.forms import EXAMPLES, OUTCOMES_PATH, Example


def timed_events(container: Container, sample: Example) -> Iterator[tuple[Event, float]]:
    """Yield the run's events, each with the seconds since the start."""
    claim, options, started = Claim(sample.claim), RunOptions(), time.monotonic()
    yield RunStarted(claim, options), 0.0
    for event in container.strategy_for(options).run(claim, options):
        yield event, time.monotonic() - started


def times_to_first(report: Report, events: list[tuple[Event, float]]) -> tuple[float, float]:
    """Return the seconds to the first question and to the end of the first hop."""
    question = next((at for event, at in events if isinstance(event, QuestionAsked)), report.seconds)
    return question, report.times[0][1] if report.times else report.seconds


def print_trail(report: Report) -> None:
    """Print the hops of a run and how it ended."""
    for hop in report.hops:
        answer = hop.answer.text if hop.answer else None
        source = hop.answer.cited.passage.title if hop.answer and hop.answer.cited else "-"
        print(f"      {hop.number}. {hop.question.text}  ->  {answer}  [{source}]  {hop.status}: {hop.reason}")
    if report.verdict:
        print(f"      {report.stopped_because} Confidence {report.verdict.confidence}. {report.verdict.missing or ''}")
    print(f"      {report.problem}" if report.problem else "")


def outcome(report: Report) -> dict[str, Any]:
    """Return what the home page shows of a finished run, in the form of `app.web.forms.Outcome`."""
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
    """Check all samples and print a line for each, then the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trails", action="store_true", help="print every hop")
    parser.add_argument("--write", action="store_true", help=f"store the outcomes in {OUTCOMES_PATH}")
    options = parser.parse_args()
    container = Container(load_settings())
    container.warm()
    right, outcomes = {}, []
    seconds, question_seconds, hop_seconds = [], [], []
    for sample in EXAMPLES:
        events = list(timed_events(container, sample))
        report = reduce_events(events)
        label = report.verdict.label if report.verdict else None
        right[sample.claim] = label == sample.label
        outcomes.append(outcome(report))
        to_question, to_hop = times_to_first(report, events)
        seconds.append(report.seconds)
        question_seconds.append(to_question)
        hop_seconds.append(to_hop)
        mark = "right" if right[sample.claim] else "WRONG"
        kept = f"{len(report.context)} of {len(report.hops)} hops kept"
        print(f"{mark}  {report.seconds:5.1f} s  {kept}  {label!s:20} {sample.claim}")
        if options.trails:
            print_trail(report)
    if options.write:
        OUTCOMES_PATH.write_text(json.dumps(outcomes, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    pairs = {sample.pair for sample in EXAMPLES if sample.pair}
    right_pairs = [pair for pair in pairs if all(right[s.claim] for s in EXAMPLES if s.pair == pair)]
    print(f"\n{sum(right.values())} of {len(EXAMPLES)} right; {len(right_pairs)} of {len(pairs)} pairs both right")
    for name, values in (("run", seconds), ("first question", question_seconds), ("first hop", hop_seconds)):
        print(f"median time of {name}: {statistics.median(values):.1f} s")


if __name__ == "__main__":
    main()
