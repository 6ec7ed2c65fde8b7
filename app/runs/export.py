"""Turn a stored run into its report (report_schema.py), for the exports, the JSON API and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from app.domain.model import Answer, Branch, Hop, Origin, Passage, RunOptions, Sentence, Span, Usage
from app.domain.report import Report
from app.runs.json_schema import as_json
from app.runs.projections import StoredRun
from app.runs.report_schema import (
    VERSION,
    BranchedFrom,
    Evidence,
    ImportedFrom,
    Module,
    Options,
    RationaleSentence,
    RunHop,
    RunReport,
    RunUsage,
)
from app.text.fact_checkers import is_fact_check


def run_as_dict(run: StoredRun) -> dict[str, Any]:
    """Return the run's report as JSON types."""
    return as_json(RunReport(**report_fields(run)))


def report_fields(run: StoredRun) -> dict[str, Any]:
    """Return the fields of the run's RunReport, for it and for its subclasses."""
    report, verdict = run.report, run.report.verdict
    return {
        "version": VERSION,
        "id": run.id,
        "created_at": run.created_at,
        "claim": report.claim.text,
        "speaker": report.claim.speaker,
        "date": report.claim.date,
        "state": report.ended or "running",
        "phase": report.phase or None,
        "label": verdict.label if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "rationale": tuple(_sentence(each, report) for each in verdict.rationale) if verdict else (),
        "missing": verdict.missing if verdict else None,
        "problem": report.problem or None,
        "stopped_because": report.stopped_because or None,
        "failures": report.failures,
        "resumed": report.resumed,
        "branch": _branch(report.branch) if report.branch else None,
        "imported": ImportedFrom(made_at=datetime.fromisoformat(report.imported.made_at)) if report.imported else None,
        "seconds": round(report.seconds, 3),
        "usage": usage_of(report.usage),
        "options": options_of(report.options),
        "modules": tuple(Module(role=role, implementation=name) for role, name in report.options.modules),
        "hops": tuple(_hop(hop, report) for hop in report.hops),
    }


def options_of(options: RunOptions) -> Options:
    """Return the options as a report has them; the modules are elsewhere in it."""
    return Options(**{each.name: getattr(options, each.name) for each in fields(Options)})


def usage_of(usage: Usage) -> RunUsage:
    """Return the usage with money to the ninth place, so that the order of addition makes no difference."""
    cost = None if usage.cost is None else round(usage.cost, 9)
    return RunUsage(**{**asdict(usage), "cost": cost})


def _branch(branch: Branch) -> BranchedFrom:
    return BranchedFrom(
        parent=branch.parent, hop=branch.hop, question=branch.question.text if branch.question else None
    )


def _sentence(sentence: Sentence, report: Report) -> RationaleSentence:
    recited = any(hop.from_memory for hop in report.hops if hop.number in sentence.hops)
    return RationaleSentence(text=sentence.text, hops=sentence.hops, from_memory=recited)


def _hop(hop: Hop, report: Report) -> RunHop:
    return RunHop(
        number=hop.number,
        question=hop.question.text,
        answer=hop.answer.text if hop.answer else None,
        status=hop.status,
        reason=hop.reason,
        from_memory=hop.from_memory,
        answerer=hop.answer.answerer if hop.answer else None,
        began=round(report.times[hop.number - 1][0], 3),
        seconds=round(report.seconds_of(hop), 3),
        usage=usage_of(report.usage_of(hop)),
        evidence=tuple(_evidence(hop.answer)) if hop.answer else (),
    )


def _evidence(answer: Answer) -> Iterator[Evidence]:
    """Yield every retrieved passage, always including the cited one."""
    cited = answer.cited.passage if answer.cited else None
    looked_at = answer.retrieved if cited is None or cited in answer.retrieved else (cited, *answer.retrieved)
    for passage in looked_at:
        yield _passage(passage, answer.cited if passage == cited else None)


def _passage(passage: Passage, cited: Span | None) -> Evidence:
    return Evidence(
        title=passage.title,
        source=passage.source,
        url=passage.url,
        published=passage.published,
        origin=passage.origin,
        fact_check=passage.origin is Origin.WEB and is_fact_check(passage.url),
        score=passage.score,
        text=passage.text,
        cited=cited is not None,
        start=cited.start if cited else None,
        end=cited.end if cited else None,
    )
