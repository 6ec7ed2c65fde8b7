"""Lists of runs in the JSON API: which of them and how many are asked for, and how they are told."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from flask import Response, jsonify, request

from app.domain.errors import InvalidInput
from app.runs.json_schema import as_json
from app.runs.projections import Position
from app.runs.service import RunFilter, RunSummary
from app.web.api.schemas import RunList
from app.web.current import capabilities
from app.web.history import LONGEST_SEARCH, OUTCOMES
from app.web.paging import cursor_of, place_of

MOST_LISTED = 100
USUALLY_LISTED = 20
LIMIT = {"type": "integer", "minimum": 1, "maximum": MOST_LISTED, "default": USUALLY_LISTED}
"""The schema of how many runs to list."""


def sent_limit() -> int:
    """How many runs to list. Raises InvalidInput for anything but a number from 1 to 100."""
    text = request.args.get("limit", str(USUALLY_LISTED))
    if text not in {str(number) for number in range(1, MOST_LISTED + 1)}:
        raise InvalidInput(f"The limit must be a whole number from 1 to {MOST_LISTED}.", "limit")
    return int(text)


def sent_cursor() -> Position | None:
    """The time and id of the run behind which to go on; None for the beginning. Raises InvalidInput for other text."""
    text = request.args.get("cursor")
    return None if text is None else place_of(text)


def sent_wishes() -> RunFilter:
    """Which runs to list. Raises InvalidInput for an outcome or an answerer that is none, and for too long a search."""
    words = request.args.get("q", "")
    if len(words) > LONGEST_SEARCH:
        raise InvalidInput(f"The search has {len(words)} characters; at most {LONGEST_SEARCH} are allowed.", "q")
    answerers = [each.name for each in capabilities().answerers]
    return RunFilter(words, one_of("label", OUTCOMES), one_of("answerer", answerers))


def one_of(name: str, known: Collection[str]) -> str:
    """The value of a filter, "" where it was left out. Raises InvalidInput for one that is not known."""
    value = request.args.get(name)
    if value is None:
        return ""
    if value not in known:
        raise InvalidInput(f"There is nothing of that name to filter by; known are: {', '.join(known)}.", name)
    return value


def told_page(found: Sequence[RunSummary], limit: int) -> Response:
    """The first `limit` of these runs, of which there is one more where others follow, and the cursor of those."""
    page = found[:limit]
    return told_list(page, cursor_of(page[-1].created_at, page[-1].id) if len(found) > limit else None)


def told_list(runs: Sequence[RunSummary], following: str | None = None) -> Response:
    """These runs; `following` is the cursor of those that come after."""
    return jsonify(as_json(RunList(tuple(runs), following)))
