"""Responses and list parameters that several API routes share."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from flask import Response, jsonify, request, url_for
from flask.typing import ResponseReturnValue

from app.domain.errors import InvalidInput
from app.domain.ports import RunCommand
from app.runs.export import report_fields
from app.runs.json_schema import as_json
from app.runs.projections import Position
from app.runs.service import RunFilter, RunSummary, StoredRun
from app.web.api.auth import stored_run
from app.web.api.schemas import Run, RunList
from app.web.observability import about_run
from app.web.pages.history import MAX_SEARCH, OUTCOMES, cursor_of, position_of
from app.web.services import capabilities, services


def run_response(run: StoredRun) -> Response:
    """Return the exported run with its current state: queue position, pending request to conclude, publication."""
    place = None if run.report.ended else services().runs.place(run.id)
    answer = Run(
        **report_fields(run),
        place=place,
        concluding=run.command is RunCommand.FINISH_NOW,
        published_at=run.published_at,
        taken_down=run.taken_down_at is not None,
    )
    response = jsonify(as_json(answer))
    response.headers["Cache-Control"] = "no-store"
    return response


def created_run(run_id: str) -> ResponseReturnValue:
    """Return 201 with the run that this request created, and its address."""
    about_run(run_id)
    return run_response(stored_run(run_id)), 201, {"Location": url_for("api_runs.read", run_id=run_id)}


MAX_LISTED = 100
DEFAULT_LISTED = 20
LIMIT = {"type": "integer", "minimum": 1, "maximum": MAX_LISTED, "default": DEFAULT_LISTED}
"""The JSON Schema of `limit`."""


def sent_limit() -> int:
    """Return the length of the list. Raises InvalidInput for anything but a number from 1 to 100."""
    text = request.args.get("limit", str(DEFAULT_LISTED))
    if text not in {str(number) for number in range(1, MAX_LISTED + 1)}:
        raise InvalidInput(f"The limit must be a whole number from 1 to {MAX_LISTED}.", "limit")
    return int(text)


def sent_cursor() -> Position | None:
    """Return the position after which the list continues, None for its beginning. Raises InvalidInput."""
    text = request.args.get("cursor")
    return None if text is None else position_of(text)


def list_filters() -> RunFilter:
    """Return the filters of the list. Raises InvalidInput for an unknown outcome or answerer, or too long a search."""
    words = request.args.get("q", "")
    if len(words) > MAX_SEARCH:
        raise InvalidInput(f"The search has {len(words)} characters; at most {MAX_SEARCH} are allowed.", "q")
    answerers = [each.name for each in capabilities().answerers]
    return RunFilter(words, one_of("label", OUTCOMES), one_of("answerer", answerers))


def one_of(name: str, known: Collection[str]) -> str:
    """Return the value of a filter, "" where it was left out. Raises InvalidInput for an unknown one."""
    value = request.args.get(name)
    if value is None:
        return ""
    if value not in known:
        raise InvalidInput(f"There is nothing of that name to filter by; known are: {', '.join(known)}.", name)
    return value


def paginated_response(found: Sequence[RunSummary], limit: int) -> Response:
    """Return the first `limit` runs, with a cursor where `found` contains more."""
    page = found[:limit]
    return list_response(page, cursor_of(page[-1].created_at, page[-1].id) if len(found) > limit else None)


def list_response(runs: Sequence[RunSummary], following: str | None = None) -> Response:
    """Return these runs; `following` is the cursor of the next page."""
    return jsonify(as_json(RunList(tuple(runs), following)))
