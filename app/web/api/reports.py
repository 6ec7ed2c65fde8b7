"""Reports by the JSON API: taken away in other forms than the run itself, and put side by side."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response, json, jsonify, request
from werkzeug.exceptions import Conflict, NotFound

from app.domain.comparison import PageUsed, pages, rows
from app.domain.model import Hop
from app.runs.comparing import NoSuchRun, compared
from app.runs.export import usage_of
from app.runs.json_schema import as_json
from app.runs.service import StoredRun
from app.web.api.askers import owned, stored_run
from app.web.api.blueprint import api_blueprint
from app.web.api.lists import one_of
from app.web.api.problems import API
from app.web.api.schemas import ComparedPage, ComparedQuestion, ComparedRun, Comparison, PageUse
from app.web.current import hopcheck
from app.web.exports import NO_REVIEW, NOT_YET, markdown_of, review_of

api_reports = api_blueprint("api_reports")


@api_reports.get(f"{API}/runs/<run_id>/export.md")
def as_markdown(run_id: str) -> Response:
    """The whole trail of a run that has ended, to read; `?notes=yes` adds its owner's notes, for the owner alone."""
    notes = hopcheck().runs.notes.of(owned(run_id).id) if one_of("notes", ("yes",)) else ()
    return Response(markdown_of(_ended(run_id), notes), mimetype="text/markdown")


@api_reports.get(f"{API}/runs/<run_id>/claimreview.json")
def as_claim_review(run_id: str) -> Response:
    """The verdict of a run as schema.org's ClaimReview."""
    review = review_of(_ended(run_id))
    if review is None:
        raise Conflict(NO_REVIEW)
    return Response(json.dumps(review), mimetype="application/ld+json")


@api_reports.get(f"{API}/compare")
def compare() -> Response:
    """Two to four runs of one claim side by side, as they stand."""
    try:
        runs = compared(hopcheck().runs.report, request.args.getlist("run"))
    except NoSuchRun as error:
        raise NotFound(str(error)) from None
    reports = [run.report for run in runs]
    answer = Comparison(
        tuple(_column(run) for run in runs),
        tuple(ComparedQuestion(row.question, row.agree, _numbers(row.hops)) for row in rows(reports)),
        tuple(_page(page) for page in pages(reports)),
    )
    return jsonify(as_json(answer))


def _ended(run_id: str) -> StoredRun:
    """The run. Raises NotFound, and Conflict for one that still goes on."""
    run = stored_run(run_id)
    if not run.report.ended:
        raise Conflict(NOT_YET)
    return run


def _column(run: StoredRun) -> ComparedRun:
    report = run.report
    label = report.verdict.label if report.verdict else None
    return ComparedRun(run.id, report.ended or "running", label, round(report.seconds, 3), usage_of(report.usage))


def _numbers(hops: Sequence[Hop | None]) -> tuple[int | None, ...]:
    return tuple(hop.number if hop else None for hop in hops)


def _page(page: PageUsed) -> ComparedPage:
    passage, uses = page.passage, tuple(PageUse(use.cited, use.read) for use in page.uses)
    return ComparedPage(passage.title, passage.source, passage.url, page.alike, uses)
