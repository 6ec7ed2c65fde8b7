"""What every group of the JSON API's routes has in common: it takes only JSON, and its errors are problem details.

Nobody steers a run by a form of another site: only JSON is taken, which a browser sends to no other site unasked, so
these routes need no CSRF token.
"""

from __future__ import annotations

from flask import Blueprint, request
from werkzeug.exceptions import UnsupportedMediaType

from app.web.api.problems import tell_problems
from app.web.security import csrf

WITH_A_BODY = frozenset({"POST", "PUT"})


def api_blueprint(name: str) -> Blueprint:
    """A group of routes of the API, by that name."""
    group = Blueprint(name, __name__)
    csrf.exempt(group)
    tell_problems(group)
    group.before_request(_take_only_json)
    return group


def _take_only_json() -> None:
    if request.method in WITH_A_BODY and request.mimetype != "application/json":
        raise UnsupportedMediaType("The body must be JSON, sent as application/json.")
