"""Convert a stored run to its report, and an exported report to the events of a run with the same report.

Nothing in an imported report is verified, so the second event of its run marks it as imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from app.domain import events, model
from app.domain.errors import InvalidInput
from app.domain.messages import Code, Text, Words
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
    PublishedFactCheck,
    RationaleSentence,
    RunHop,
    RunNote,
    RunReport,
    RunUsage,
    report_adapter,
)
from app.runs.version_1 import coded, is_early, with_quote
from app.text.claims import parse_claim
from app.text.fact_checkers import is_fact_check


def run_as_dict(run: StoredRun) -> dict[str, Any]:
    return as_json(RunReport(**report_fields(run)))


def report_fields(run: StoredRun) -> dict[str, Any]:
    """Return the arguments for RunReport or one of its subclasses that describe the run."""
    report, verdict, branch = run.report, run.report.verdict, run.report.branch
    question = branch.question.text if branch and branch.question else None
    return {
        "version": VERSION,
        "id": run.id,
        "created_at": run.created_at,
        "claim": report.claim.text,
        "speaker": report.claim.speaker,
        "date": report.claim.date,
        "state": report.ended or "running",
        "phase": _words(report.phase),
        "label": verdict.label if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "rationale": tuple(_sentence(each, report) for each in verdict.rationale) if verdict else (),
        "missing": _words(verdict.missing) if verdict else None,
        "problem": _words(report.problem),
        "stopped_because": _words(report.stopped_because),
        "ended_early": report.ended_early,
        "failures": tuple(map(str, report.failures)),
        "fact_checks": None
        if report.fact_checks is None
        else tuple(PublishedFactCheck(**asdict(each)) for each in report.fact_checks),
        "resumed": report.resumed,
        "branch": BranchedFrom(parent=branch.parent, hop=branch.hop, question=question) if branch else None,
        "imported": ImportedFrom(made_at=datetime.fromisoformat(report.imported.made_at)) if report.imported else None,
        "seconds": round(report.seconds, 3),
        "usage": usage_of(report.usage),
        "options": options_of(report.options),
        "modules": tuple(Module(role=role, implementation=name) for role, name in report.options.modules),
        "hops": tuple(_hop_report(hop, report) for hop in report.hops),
    }


def _words(text: Text | None) -> str | None:
    return str(text) if text else None


def options_of(options: model.RunOptions) -> Options:
    """Return the options in the form of a report, which lists the modules separately."""
    return Options(**{each.name: getattr(options, each.name) for each in fields(Options)})


def usage_of(usage: model.Usage) -> RunUsage:
    """Return the usage in the form of a report, without the digits of its cost that depend on the order of addition."""
    cost = None if usage.cost is None else round(usage.cost, 9)
    return RunUsage(**{**asdict(usage), "cost": cost})


def note_of(note: model.Note) -> RunNote:
    return RunNote(**asdict(note))


def _sentence(sentence: model.Sentence, report: Report) -> RationaleSentence:
    recited = any(hop.from_memory for hop in report.hops if hop.number in sentence.hops)
    return RationaleSentence(text=str(sentence.text), hops=sentence.hops, from_memory=recited, quote=sentence.quote)


def _hop_report(hop: model.Hop, report: Report) -> RunHop:
    return RunHop(
        number=hop.number,
        question=hop.question.text,
        answer=hop.answer.text if hop.answer else None,
        status=hop.status,
        reason=str(hop.reason),
        from_memory=hop.from_memory,
        answerer=hop.answer.answerer if hop.answer else None,
        began=round(report.times[hop.number - 1][0], 3),
        seconds=round(report.seconds_of(hop), 3),
        usage=usage_of(report.usage_of(hop)),
        evidence=tuple(_evidence(hop.answer)) if hop.answer else (),
    )


def _evidence(answer: model.Answer) -> Iterator[Evidence]:
    """Yield every retrieved passage, and the cited one even if it was not retrieved."""
    cited = answer.cited.passage if answer.cited else None
    passages = answer.retrieved if cited is None or cited in answer.retrieved else (cited, *answer.retrieved)
    for passage in passages:
        span = answer.cited if passage == cited else None
        yield Evidence(
            **asdict(passage),
            fact_check=passage.origin is model.Origin.WEB and is_fact_check(passage.url),
            cited=span is not None,
            start=span.start if span else None,
            end=span.end if span else None,
        )


MAX_BYTES = 2 * 1024 * 1024
"""Ten hops with ten pages of 2,000 words each are 1.7 MB."""
MAX_SIGNS = 50_000
"""Signs of lists, objects and fields: pydantic would take seconds to minutes for mistakes in a million of them."""

TOO_LARGE = Words(
    "The report is larger than {max_bytes} MB, which is the most that is read.", max_bytes=MAX_BYTES // 1024**2
)
NO_EXPORT = Words("This is no report as Hopcheck exports it")

TimedEvent = tuple[events.Event, float]
"""An event, and its time in seconds after the run's start."""


def read_export(text: bytes) -> tuple[TimedEvent, ...]:
    """Return the events of the report in a file; the last one is terminal.

    Raises InvalidInput, for the field "report", with one sentence about the first error.
    """
    if len(text) > MAX_BYTES:
        raise InvalidInput(TOO_LARGE, "report")
    if sum(map(text.count, (b"[", b"{", b":"))) > MAX_SIGNS:
        raise rejection(
            Words(
                "{no_export}: it has more than {max_signs:,} lists, objects and fields",
                no_export=NO_EXPORT,
                max_signs=MAX_SIGNS,
            )
        )
    try:
        exported = report_adapter().validate_json(text.removeprefix(b"\xef\xbb\xbf"))
    except ValidationError as error:
        raise rejection(_first_mistake(error)) from None
    _check_consistency(exported)
    return tuple(_events(exported, _claim(exported)))


def rejection(reason: str) -> InvalidInput:
    return InvalidInput(Words("{message}.", message=reason), "report")


def _first_mistake(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    fault = next((each for each in faults if each["loc"] == ("version",)), faults[0])
    if fault["type"] == "json_invalid":
        return Words("This is not valid JSON in UTF-8")
    if fault["loc"] == ("version",) and fault["type"] == "literal_error":
        return Words(
            "This report is of another version of the export; only version {version} can be read here", version=VERSION
        )
    where = " ".join(str(each + 1 if isinstance(each, int) else each) for each in fault["loc"])
    if fault["type"] == "missing":
        return Words("{no_export}: {where} is missing", no_export=NO_EXPORT, where=where)
    what = fault["msg"].removeprefix("Value error, ")
    detail = f"{f'in {where}, ' if where else ''}{what[:1].lower()}{what[1:]}"
    return Words("{no_export}: {detail}", no_export=NO_EXPORT, detail=detail)


def _check_consistency(exported: RunReport) -> None:
    """Raise InvalidInput where valid parts of the report contradict each other."""
    if exported.state == "running":
        raise rejection(
            Words("{no_export}: in state, input should be 'verdict', 'failed' or 'interrupted'", no_export=NO_EXPORT)
        )
    if unfinished := next((hop.number for hop in exported.hops if hop.status is model.HopStatus.OPEN), None):
        raise rejection(
            Words(
                "{no_export}: in hops {unfinished} status, input should be that of a hop that has ended",
                no_export=NO_EXPORT,
                unfinished=unfinished,
            )
        )
    numbers = [hop.number for hop in exported.hops]
    if numbers != list(range(1, len(numbers) + 1)):
        raise rejection(Words("{no_export}: its hops are not numbered in order from 1", no_export=NO_EXPORT))
    if any(hop not in numbers for sentence in exported.rationale for hop in sentence.hops):
        raise rejection(Words("{no_export}: its rationale cites a hop that is not there", no_export=NO_EXPORT))
    if (exported.state == "verdict") != (exported.label is not None):
        raise rejection(Words("{no_export}: a label goes with a verdict, and only with one", no_export=NO_EXPORT))
    if any(len({each for each in hop.evidence if each.cited}) > 1 for hop in exported.hops):
        raise rejection(Words("{no_export}: an answer cites more than one passage", no_export=NO_EXPORT))
    if any(hop.answerer is None and (hop.evidence or hop.answer is not None) for hop in exported.hops):
        raise rejection(Words("{no_export}: an answer has no answerer", no_export=NO_EXPORT))


def _claim(exported: RunReport) -> model.Claim:
    try:
        return parse_claim(exported.claim, exported.speaker or "", exported.date or "")
    except InvalidInput as error:
        raise InvalidInput(str(error), "report") from None


def _events(exported: RunReport, claim: model.Claim) -> Iterator[TimedEvent]:
    made_at = exported.imported.made_at if exported.imported else exported.created_at
    yield events.RunStarted(claim, _options(exported)), 0.0
    yield events.RunImported(model.Imported(made_at.astimezone(UTC).isoformat())), 0.0
    if exported.branch:
        question = None if exported.branch.question is None else model.Question(exported.branch.question)
        yield events.RunBranched(model.Branch(exported.branch.parent, exported.branch.hop, question)), 0.0
    for hop in exported.hops:
        yield from _hop_events(hop)
    last = exported.seconds
    yield events.TokensUsed(_usage_outside_hops(exported)), last
    for _ in range(exported.resumed):
        yield events.RunResumed(Code.CUT_OFF()), last
    for failure in exported.failures:
        yield events.StepFailed("", failure), last
    if exported.fact_checks is not None:
        yield events.FactChecksFound(tuple(model.FactCheck(**asdict(each)) for each in exported.fact_checks)), last
    if reason := exported.stopped_because:
        yield events.QuestioningEnded(coded(reason), exported.ended_early or is_early(reason)), last
    yield _terminal_event(exported), last


def _usage(usage: RunUsage) -> model.Usage:
    return model.Usage(**asdict(usage))


def _options(exported: RunReport) -> model.RunOptions:
    modules = tuple((module.role, module.implementation) for module in exported.modules)
    return model.RunOptions(**asdict(exported.options), modules=modules)


def _hop_events(hop: RunHop) -> Iterator[TimedEvent]:
    ended = hop.began + hop.seconds
    yield events.QuestionAsked(hop.number, model.Question(hop.question)), hop.began
    yield events.TokensUsed(_usage(hop.usage)), hop.began
    if hop.answerer is not None:
        yield events.AnswerFound(hop.number, _answer(hop, hop.answerer)), ended
    yield _outcome_event(hop), ended


def _answer(hop: RunHop, answerer: str) -> model.Answer:
    found = (model.Span(_passage(each), each.start or 0, each.end or 0) for each in hop.evidence if each.cited)
    return model.Answer(hop.answer, next(found, None), tuple(map(_passage, hop.evidence)), answerer)


def _passage(each: Evidence) -> model.Passage:
    return model.Passage(
        each.text, each.title, each.source, each.url, each.published, each.origin, each.score, each.described
    )


def _outcome_event(hop: RunHop) -> events.Event:
    match hop.status:
        case model.HopStatus.KEPT:
            return events.HopKept(hop.number, coded(hop.reason))
        case model.HopStatus.SET_ASIDE:
            return events.HopSetAside(hop.number, coded(hop.reason))
        case model.HopStatus.INTERRUPTED:
            return events.HopInterrupted(hop.number, coded(hop.reason))
    return events.HopFailed(hop.number, "", hop.reason)


USAGE_COUNTS = tuple(each.name for each in fields(model.Usage) if each.name != "cost")


def _usage_outside_hops(exported: RunReport) -> model.Usage:
    """Return the run's usage less that of its hops.

    Raises InvalidInput where the hops' calls or tokens are more; the cost is not compared, because it is rounded.
    """
    total, hops = exported.usage, sum((_usage(hop.usage) for hop in exported.hops), model.Usage())
    counts = {name: getattr(total, name) - getattr(hops, name) for name in USAGE_COUNTS}
    if min(counts.values()) < 0:
        raise rejection(
            Words("{no_export}: its hops have more calls and tokens than the whole of it", no_export=NO_EXPORT)
        )
    return model.Usage(**counts, cost=None if total.cost is None else total.cost - (hops.cost or 0.0))


def _terminal_event(exported: RunReport) -> events.Event:
    if exported.label is not None:
        sentences = (model.Sentence(each.text, each.hops, each.quote) for each in exported.rationale)
        rationale = tuple(each if each.quote else with_quote(each) for each in sentences)
        return events.VerdictReached(model.Verdict(exported.label, rationale, exported.missing, exported.confidence))
    return (events.RunFailed if exported.state == "failed" else events.RunInterrupted)(coded(exported.problem or ""))
