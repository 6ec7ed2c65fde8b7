"""Publishing by the JSON API, where the operator allows it, and the gallery of what was published."""

from __future__ import annotations

from flask import Response, jsonify
from werkzeug.exceptions import Conflict, NotFound

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.runs.json_schema import as_json
from app.web.api.answers import told
from app.web.api.askers import owned
from app.web.api.blueprint import api_blueprint
from app.web.api.input import sent
from app.web.api.lists import one_of, sent_cursor, sent_limit
from app.web.api.problems import API
from app.web.api.schemas import Gallery, Nothing
from app.web.current import hopcheck
from app.web.paging import cursor_of
from app.web.publishing import CLOSED, is_open

api_publishing = api_blueprint("api_publishing")


@api_publishing.post(f"{API}/runs/<run_id>/publish")
def publish(run_id: str) -> Response:
    """Put the asker's run in the gallery. Once more changes nothing."""
    sent(Nothing)
    owned(run_id)
    _check_open()
    try:
        hopcheck().runs.publishing.publish(run_id)
    except InvalidInput as error:
        raise Conflict(str(error)) from None
    return told(owned(run_id))


@api_publishing.post(f"{API}/runs/<run_id>/unpublish")
def unpublish(run_id: str) -> Response:
    """Take the asker's run out of the gallery. Once more changes nothing."""
    sent(Nothing)
    hopcheck().runs.publishing.unpublish(owned(run_id).id)
    return told(owned(run_id))


@api_publishing.get(f"{API}/gallery")
def gallery() -> Response:
    """The published reports, the last first, some at a time."""
    _check_open()
    limit = sent_limit()
    found = hopcheck().runs.publishing.listed(one_of("label", tuple(Label)), limit + 1, sent_cursor())
    page = found[:limit]
    following = cursor_of(page[-1].published_at, page[-1].id) if len(found) > limit else None
    return jsonify(as_json(Gallery(tuple(page), following)))


def _check_open() -> None:
    if not is_open():
        raise NotFound(CLOSED)
