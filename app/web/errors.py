"""HTML error pages: one sentence, a way back, and what was submitted. They work without the database."""

from __future__ import annotations

import logging
from typing import Any

from flask import Flask, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException, NotFound

from app.domain.errors import HopcheckError, InvalidInput
from app.domain.messages import Words
from app.runs.service import Rejected, Unreadable
from app.web import services
from app.web.api.blueprint import API, RETRY_SECONDS, TOO_FAST, problem_of, seconds_to_wait, status_of
from app.web.home import form_context, home_page, sent_form
from app.web.language import words
from app.web.observability import log_refusal
from app.web.run_view import run_page
from app.web.security import STALE, is_foreign
from app.web.views import about

log = logging.getLogger(__name__)

STALE_FORM = Words("This page was out of date, so nothing was sent. Your claim is still here: please send it again.")


class SwitchedOff(NotFound):
    """The operator has not allowed this."""


def register_error_pages(app: Flask) -> None:
    app.register_error_handler(InvalidInput, _refused)
    app.register_error_handler(CSRFError, _csrf_error)
    app.register_error_handler(Rejected, _rejected)
    app.register_error_handler(Unreadable, _unreadable)
    app.register_error_handler(HopcheckError, unavailable)
    app.register_error_handler(HTTPException, _error_page)


def _csrf_error(error: CSRFError) -> ResponseReturnValue:
    """Return the claim form, or a page that sends the same form again; the page's script loads its page anew."""
    log_refusal("csrf")
    if request.endpoint == "pages.start":
        return _refused(InvalidInput(STALE_FORM), 400)
    context = {} if is_foreign(request.headers, request.host) else _submitted()
    return render_template("error.html", code=400, meaning=STALE, **context), 400, {"HX-Refresh": "true"}


def _refused(error: InvalidInput, code: int | None = None) -> ResponseReturnValue:
    """Return the page of the run, or the home page with the submitted form, with the error.

    Without a database it is an error page.
    """
    run_id, code = (request.view_args or {}).get("run_id"), code or status_of(error)
    try:
        if run_id and (run := services().runs.report(run_id)):
            return run_page(run, words(error)), code
        return home_page(sent_form(), error), code
    except HopcheckError as failure:
        return unavailable(failure)


def _rejected(error: Rejected) -> ResponseReturnValue:
    return _page(429, Words.joined(" ", (words(error), _again_in(error.retry_after))), error.retry_after)


def _unreadable(error: Unreadable) -> ResponseReturnValue:
    log.warning("%s %s: %s (%s)", request.method, request.endpoint, error, error.__cause__)
    return _page(501, words(error))


def unavailable(error: HopcheckError) -> ResponseReturnValue:
    log.error("%s %s: %s", request.method, request.endpoint, error)
    return _page(503, words(error), RETRY_SECONDS)


def _error_page(error: HTTPException) -> ResponseReturnValue:
    if request.path.startswith(f"{API}/"):  # unknown API routes do not reach the blueprint's handlers
        return problem_of(error)
    code = error.code or 500
    wait = seconds_to_wait(error)
    meaning = error.description or "" if isinstance(error, SwitchedOff) else ""
    if code == 429 and wait:
        meaning = Words.joined(" ", (TOO_FAST, _again_in(wait)))
    page, code, headers = _page(code, meaning, wait)
    allow = {name: methods for name, methods in error.get_headers() if name == "Allow"}
    return page, code, headers | allow


def _again_in(seconds: int) -> str:
    return Words("Please try again in {seconds}.", seconds=about(seconds))


def _page(code: int, meaning: str = "", wait: int | None = None) -> tuple[str, int, dict[str, str]]:
    """Return the error page. `meaning` replaces the usual text; `wait` is Retry-After in seconds."""
    context = _submitted() if code in (429, 503) and request.method == "POST" else {}
    page = render_template("error.html", code=code, meaning=meaning, **context)
    return page, code, {"Retry-After": str(wait)} if wait else {}


def _submitted() -> dict[str, Any]:
    """Return the claim form or, of any other form, the fields to send again, unless it had a file."""
    if request.endpoint == "pages.start":
        return form_context(sent_form())
    has_file = any(file.filename for file in request.files.values())
    fields = [(name, value) for name, value in request.form.items(multi=True) if name != "csrf_token"]
    return {"fields": [] if has_file else fields}
