"""API routes that describe the API: its OpenAPI document, the page that shows it, and the options of a run."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from functools import cache
from typing import Any

from flask import Response, jsonify, render_template

from app.batches.files import BatchResult
from app.batches.service import BatchState
from app.capabilities.options import Choice
from app.config import VERSION
from app.domain.events import AnswerFound, Event, HopKept, QuestionAsked, QuestioningEnded, RunStarted, VerdictReached
from app.domain.messages import Code
from app.domain.model import (
    RANGES,
    Answer,
    Claim,
    Label,
    LabelSet,
    Note,
    Passage,
    Question,
    RunOptions,
    Sentence,
    Span,
    Usage,
    Verdict,
)
from app.domain.report import Report, reduce_events
from app.runs.event_store import event_schema, in_words
from app.runs.json_schema import as_json, json_schemas
from app.runs.lifecycle import PublishedRun
from app.runs.projections import RunSummary, StoredRun
from app.runs.report_schema import RunReport
from app.runs.transfer import note_of, options_of, report_fields, run_as_dict, usage_of
from app.web import capabilities
from app.web.api import schemas
from app.web.api.blueprint import API, api_blueprint
from app.web.api.operations import COUNT, OPERATIONS, REF, TEXT, Parameter, Schema, reference
from app.web.forms import EXAMPLES

ABOUT = (
    "Check a claim one question at a time, with the evidence for every answer. Programs can do here most of what the "
    "pages of this site do, but cannot split a text into claims. Errors are problem details (RFC 9457). Where tokens "
    "are set up, starting, listing and steering runs need one; elsewhere runs belong to the session cookie that "
    "starting the first one sets. Reading and following a run are open to whoever has its id."
)
TAGS = {
    "runs": "Start, follow, steer and delete checks of a claim.",
    "batches": "Check many claims with the same options.",
    "reports": "Export, import, compare and publish what came out.",
    "notes": "Your own opinion on a verdict or a hop.",
    "site": "What can be chosen here, and whether it works.",
}
PATH = {
    "run_id": Parameter("run_id", TEXT, "The run's id.", "path", True),
    "batch_id": Parameter("batch_id", TEXT, "The batch's id.", "path", True),
    "hop": Parameter(
        "hop", {**COUNT, "maximum": schemas.MAX_HOP_NUMBER}, "The number of the hop, 0 for the verdict.", "path", True
    ),
}


@cache
def document() -> Schema:
    """Return the OpenAPI document. It is cached, so callers must not change it."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hopcheck", "version": VERSION, "description": ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": about} for name, about in TAGS.items()],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "hopcheck"},
            },
        },
    }


def _paths() -> Schema:
    paths: Schema = {}
    for tag, operations in OPERATIONS.items():
        for each in operations:
            method, path = each.route.split()
            path = path[1:] if path.startswith("//") else API + path
            named = [PATH[name].to_openapi() for name in re.findall(r"{(\w+)}", path)]
            paths.setdefault(path, {"parameters": named} if named else {})[method] = each.to_openapi(tag)
    return paths


def _schemas() -> Schema:
    event = event_schema(REF)
    parts = event.pop("$defs")
    # Each kind gets `seq` and `seconds` itself: generators would drop the union from a StoredEvent that added them.
    for address in event["discriminator"]["mapping"].values():
        kind = parts[address.rpartition("/")[2]]
        kind["properties"] |= {"seq": COUNT, "seconds": {"type": "number", "minimum": 0}}
        kind["required"] = [*kind.get("required", []), "seq", "seconds"]
    described = {
        **parts,
        "Event": event,
        "StoredEvent": {"description": "An event as the stream sends it.", "oneOf": [reference("Event")]},
        **json_schemas([*schemas.REQUESTS, *schemas.RESPONSES], REF),
        "Exported": _exported(),
    }
    return described | {name: {**described[name], "examples": [example]} for name, example in examples().items()}


def _exported() -> Schema:
    """Return the schema of a report to import: fields with a default may be missing.

    Fields that a report does not have, such as a run's `place`, are ignored.
    """
    whole = json_schemas([RunReport], REF)["RunReport"]
    return {
        **whole,
        "description": "A run that has ended, as GET /runs/{run_id} answers it.",
        "required": [each.name for each in fields(RunReport) if each.default is MISSING],
        "additionalProperties": True,
    }


api = api_blueprint("api")


@api.get("/api")
def browse() -> str:
    """Show the API's document as a page."""
    return render_template("api.html", document=document())


@api.get(f"{API}/openapi.json")
def openapi() -> Response:
    """Return the API's document, OpenAPI 3.1, in its own order, because generators need the parts of a union first."""
    return Response(json.dumps(document()), mimetype="application/json")


@api.get(f"{API}/choices")
def choices() -> Response:
    """Return the options and defaults of a run on this site."""
    available = capabilities()
    answer = schemas.Choices(
        available.sources,
        available.strategies,
        available.presets,
        available.answerers,
        available.models,
        available.corpora,
        available.pursuits,
        available.searches,
        available.fact_checks,
        labels=tuple(schemas.Labels(each, each.labels) for each in LabelSet),
        most_hops=RANGES["max_hops"].maximum,
        defaults=options_of(available.defaults()),
        samples=tuple(sample.claim for sample in EXAMPLES),
    )
    return jsonify(as_json(answer))


# Examples of requests and responses, by schema. Responses are made from the classes that the routes return.

RUN_ID, OTHER_ID, BATCH_ID = "Vt6b1nKx0cQy2dRw3eSz4g", "h7JmPqR2sT4uVwX5yZaB6c", "b9CdEfG3hJkL4mNpQrS5tU"
PERMALINK = f"https://hopcheck.example/runs/{RUN_ID}"
WHEN = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
CLAIM = Claim("The author of Hamlet was born in England.", "A teacher", "2020-10-31")
TEXTS = ("Hamlet is a tragedy by William Shakespeare.", "William Shakespeare was born in Stratford-upon-Avon, England.")


def _answer(answer: str, text: str, title: str) -> Answer:
    url = f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"
    passage = Passage(text, title, "Vital articles, CC BY-SA 4.0", url, score=12.5)
    start = text.index(answer)
    return Answer(answer, Span(passage, start, start + len(answer)), (passage,), "retriever-reader", 0.9)


def _report() -> Report:
    rationale = (Sentence("William Shakespeare wrote Hamlet.", (1,)), Sentence("He was born in England.", (2,)))
    events: tuple[Event, ...] = (
        RunStarted(CLAIM, RunOptions()),
        QuestionAsked(1, Question("Who wrote Hamlet?")),
        AnswerFound(1, _answer("William Shakespeare", TEXTS[0], "Hamlet")),
        HopKept(1, Code.ABOUT_CLAIM()),
        QuestionAsked(2, Question("Where was William Shakespeare born?")),
        AnswerFound(2, _answer("England", TEXTS[1], "William Shakespeare")),
        HopKept(2, Code.ABOUT_ANSWER(answer="William Shakespeare", hop=1)),
        QuestioningEnded(Code.SATISFIED()),
        VerdictReached(Verdict(Label.SUPPORTED, rationale, confidence=0.91)),
    )
    return reduce_events((event, 0.4 * at) for at, event in enumerate(events))


REPORT = _report()
STORED = StoredRun(RUN_ID, "", WHEN, 9, REPORT)
SUMMARY = RunSummary(RUN_ID, CLAIM.text, Label.SUPPORTED, "verdict", WHEN)
BATCH = (BATCH_ID, "Claims of the week", BatchState.GOING, WHEN)
NOTE = note_of(Note(2, False, "Stratford is named, but the passage does not say when.", WHEN))
EVENT = {"seq": 2, "seconds": 0.4, **in_words(QuestionAsked(1, Question("Who wrote Hamlet?")))}
COMPARED = tuple(
    schemas.ComparedRun(run_id, "verdict", Label.SUPPORTED, 3.2, usage_of(Usage(9, 0, 0)))
    for run_id in (RUN_ID, OTHER_ID)
)
PASSAGE = next(passage for hop in REPORT.hops if hop.answer for passage in hop.answer.retrieved)
PAGE = schemas.ComparedPage(
    PASSAGE.title, PASSAGE.source, PASSAGE.url, True, (schemas.PageUse((1,), ()), schemas.PageUse((1,), ()))
)

RESPONSES = (
    schemas.Run(**report_fields(STORED), place=None, concluding=False, published_at=None, taken_down=False),
    schemas.RunList((SUMMARY,), None),
    schemas.NoteList((NOTE,)),
    NOTE,
    schemas.Gallery((PublishedRun(RUN_ID, CLAIM.text, Label.SUPPORTED, WHEN),), None),
    schemas.Comparison(COMPARED, (schemas.ComparedQuestion("Who wrote Hamlet?", True, (1, 1)),), (PAGE,)),
    schemas.Batch(*BATCH, {"SUPPORTED": 1, "waiting": 1}, 1, 2, None),
    schemas.BatchList((schemas.BatchSummary(*BATCH),)),
    schemas.BatchResults(
        (BatchResult(1, CLAIM.text, CLAIM.speaker, CLAIM.date, Label.SUPPORTED, 0.91, "verdict", None, PERMALINK),),
        1,
    ),
    schemas.Choices(
        sources=(Choice("vital", "Wikipedia extracts (offline)"),),
        strategies=(Choice("question-guided", "One question at a time"),),
        presets=(Choice("local", "Local models"),),
        answerers=(Choice("web-search", "Web search", False, "No search engine is set up.", "Set SEARXNG_URL."),),
        models=(Choice("gpt-4o-mini", "gpt-4o-mini", destination="api.openai.com"),),
        corpora=(Choice("vital", "Vital articles"),),
        pursuits=(Choice("local", "Local pursuit"),),
        searches=(Choice("corpus", "The corpora"),),
        fact_checks=Choice("fact-checks", "Published fact-checks", destination="factchecktools.googleapis.com"),
        labels=tuple(schemas.Labels(each, each.labels) for each in LabelSet),
        most_hops=10,
        defaults=options_of(RunOptions()),
        samples=(CLAIM.text,),
    ),
)


def examples() -> dict[str, Any]:
    """Return one example by the name of its schema."""
    return {
        **{type(each).__name__: as_json(each) for each in RESPONSES},
        "StoredEvent": EVENT,
        "Message": {"id": "2", "data": json.dumps(EVENT)},
        "Readiness": {
            "ready": True,
            "parts": [{"name": "database", "state": "ready"}, {"name": "judge", "state": "ready"}],
        },
        "Problem": {
            "type": "about:blank",
            "title": "Unprocessable Entity",
            "status": 422,
            "detail": "Please write a claim.",
            "field": "claim",
        },
        "Exported": run_as_dict(STORED),
        "NewRun": {"claim": CLAIM.text, "speaker": CLAIM.speaker, "date": CLAIM.date, "max_hops": 4},
        "NewBatch": {"title": BATCH[1], "claims": [CLAIM.text, {"claim": "Paris is a river.", "speaker": "A pupil"}]},
        "NewBranch": {"hop": 2, "question": "In which country was William Shakespeare born?"},
        "NewNote": {"agrees": NOTE.agrees, "text": NOTE.text},
        "Nothing": {},
    }
