"""Bringing a report back: the file of a JSON export, or its text, becomes a page that says where it is from."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import RequestEntityTooLarge

from app.domain.errors import InvalidInput
from app.runs.importing import LARGEST, TOO_LARGE
from app.web.access_log import about_run
from app.web.current import hopcheck
from app.web.security import owner
from app.web.stale import STALE, when_stale

importing = Blueprint("importing", __name__)

NOTHING_SENT = "Choose a file, or paste what stands in one."


@importing.get("/import")
def form() -> str:
    """What takes a file."""
    return _page()


@importing.post("/import")
def upload() -> ResponseReturnValue:
    """Keep the report, and lead to its page."""
    try:
        run_id = hopcheck().runs.import_report(_sent(), owner())
    except InvalidInput as error:
        return _page(str(error), _pasted()), 422
    about_run(run_id)
    return redirect(url_for("pages.run", run_id=run_id), 303)


@when_stale(importing)
def _stale(error: CSRFError) -> ResponseReturnValue:
    """What was pasted comes back; no page may put a file into a form again."""
    return _page(STALE, _pasted()), 400


@importing.errorhandler(RequestEntityTooLarge)
def _too_large(error: RequestEntityTooLarge) -> ResponseReturnValue:
    """Its length told, so it was not read."""
    return _page(TOO_LARGE), 413


def _sent() -> bytes:
    """The chosen file or, without one, what was pasted. Raises InvalidInput where there is neither."""
    file = request.files.get("file")
    sent = file.read() if file and file.filename else _pasted().encode()
    if not sent:
        raise InvalidInput(NOTHING_SENT, "report")
    return sent


def _pasted() -> str:
    return request.form.get("report", "").strip()


def _page(problem: str = "", pasted: str = "") -> str:
    return render_template("import.html", problem=problem, pasted=pasted, most=LARGEST // 1024**2)
