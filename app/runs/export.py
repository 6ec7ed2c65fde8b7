"""A run as one JSON-ready object, for the JSON API, the command line and whoever else hands runs out.

Everything that a run's page shows is in it. docs/api.md and the schema in app/web/api/schemas/runs.py describe it; bump
VERSION when a field goes away or changes its meaning. A new field does not change the version.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC
from typing import Any

from app.domain.model import Answer, Branch, Hop, Origin, Passage, RunOptions, Sentence, Span, Usage
from app.domain.report import Report
from app.runs.notes import Note
from app.runs.projections import StoredRun
from app.text.fact_checkers import is_fact_check

VERSION = 1


def run_as_dict(run: StoredRun) -> dict[str, Any]:
    """The run with its verdict and every hop; what there is none of is None.

    `state` is "running", "verdict", "failed" or "interrupted"; `problem` says why for the last two. `stopped_because`
    is a sentence that says why no more questions were asked, `failures` are sentences about calls that did not work.
    Times are seconds: `seconds` of the whole run up to its last event, `began` and `seconds` of a hop.
    """
    report, verdict = run.report, run.report.verdict
    return {
        "version": VERSION,
        "id": run.id,
        "created_at": run.created_at.astimezone(UTC).isoformat(),
        "claim": report.claim.text,
        "speaker": report.claim.speaker,
        "date": report.claim.date,
        "state": report.ended or "running",
        "phase": report.phase or None,
        "label": verdict.label.value if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "rationale": [_sentence(each, report) for each in verdict.rationale] if verdict else [],
        "missing": verdict.missing if verdict else None,
        "problem": report.problem or None,
        "stopped_because": report.stopped_because or None,
        "failures": list(report.failures),
        "resumed": report.resumed,
        "branch": _branch(report.branch) if report.branch else None,
        "imported": asdict(report.imported) if report.imported else None,
        "seconds": round(report.seconds, 3),
        "usage": _usage(report.usage),
        "options": options_as_dict(report.options),
        "modules": [{"role": role, "implementation": name} for role, name in report.options.modules],
        "hops": [_hop(hop, report) for hop in report.hops],
    }


def notes_as_dicts(notes: Iterable[Note]) -> list[dict[str, Any]]:
    """A run's notes, for its owner alone: `hop` 0 is the verdict, `agrees` None takes no side."""
    return [{**asdict(note), "written_at": note.written_at.astimezone(UTC).isoformat()} for note in notes]


def options_as_dict(options: RunOptions) -> dict[str, Any]:
    """What was chosen, under the names by which it is chosen; the modules stand by themselves."""
    told = {name: value for name, value in asdict(options).items() if name != "modules"}
    return {**told, "labels": options.labels.value, "corpora": list(options.corpora)}


def _usage(usage: Usage) -> dict[str, Any]:
    """Money to the ninth place, so that what was added up in another order is the same."""
    return {**asdict(usage), "cost": None if usage.cost is None else round(usage.cost, 9)}


def _branch(branch: Branch) -> dict[str, Any]:
    """`question` is None where the hop was left out."""
    question = branch.question.text if branch.question else None
    return {"parent": branch.parent, "hop": branch.hop, "question": question}


def _sentence(sentence: Sentence, report: Report) -> dict[str, Any]:
    """`from_memory` says that a hop it cites has what a model recited behind it, and no source."""
    recited = any(hop.from_memory for hop in report.hops if hop.number in sentence.hops)
    return {"text": sentence.text, "hops": list(sentence.hops), "from_memory": recited}


def _hop(hop: Hop, report: Report) -> dict[str, Any]:
    """`question` is "" when none could be asked."""
    return {
        "number": hop.number,
        "question": hop.question.text,
        "answer": hop.answer.text if hop.answer else None,
        "status": hop.status.value,
        "reason": hop.reason,
        "from_memory": hop.from_memory,
        "answerer": hop.answer.answerer if hop.answer else None,
        "began": round(report.times[hop.number - 1][0], 3),
        "seconds": round(report.seconds_of(hop), 3),
        "usage": _usage(report.usage_of(hop)),
        "evidence": _evidence(hop.answer) if hop.answer else [],
    }


def _evidence(answer: Answer) -> list[dict[str, Any]]:
    """Everything that was looked at; the passage that the answer stands in is never left out."""
    cited = answer.cited.passage if answer.cited else None
    looked_at = answer.retrieved if cited is None or cited in answer.retrieved else (cited, *answer.retrieved)
    return [_passage(passage, answer.cited if passage == cited else None) for passage in looked_at]


def _passage(passage: Passage, cited: Span | None) -> dict[str, Any]:
    """`start` and `end` are where the answer stands in the text, in Unicode code points; None where it is not cited."""
    return {
        "title": passage.title,
        "source": passage.source,
        "url": passage.url,
        "published": passage.published,
        "origin": passage.origin.value,
        "fact_check": passage.origin is Origin.WEB and is_fact_check(passage.url),
        "score": passage.score,
        "text": passage.text,
        "cited": cited is not None,
        "start": cited.start if cited else None,
        "end": cited.end if cited else None,
    }
