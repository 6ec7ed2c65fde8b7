"""Errors as pages in the site's layout: what happened in one sentence, a way back, and the claim when one was sent.

Without the database, too, each of them is a page that says so. A trace is for the log alone.
"""

from __future__ import annotations

import logging

from flask import Flask, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from app.domain.errors import HopcheckError, InvalidInput
from app.runs.service import Rejected, Unreadable
from app.web.api.blueprint import API, RETRY_SECONDS, TOO_FAST, problem_of, seconds_to_wait
from app.web.observability import refused
from app.web.pages.home import form_context, home_page, sent_form
from app.web.views import about

log = logging.getLogger(__name__)

STALE_FORM = "This page had grown stale, so nothing was sent. Your claim is still here: please send it again."


def show_errors(app: Flask) -> None:
    """Answer every error of this application with a page."""
    app.register_error_handler(InvalidInput, _wrong_form)
    app.register_error_handler(CSRFError, _stale_form)
    app.register_error_handler(Rejected, _turned_away)
    app.register_error_handler(Unreadable, _unreadable)
    app.register_error_handler(HopcheckError, _not_now)
    app.register_error_handler(HTTPException, _error_page)


def _wrong_form(error: InvalidInput) -> ResponseReturnValue:
    """The form comes back as it was typed, with one sentence by the field."""
    return _form_again(error, 422)


def _stale_form(error: CSRFError) -> ResponseReturnValue:
    refused("csrf")
    return _form_again(InvalidInput(STALE_FORM), 400)


def _form_again(error: InvalidInput, code: int) -> ResponseReturnValue:
    """The home page with the form as it was sent. It lists runs, so without a database there is another page."""
    try:
        return home_page(sent_form(), error), code
    except HopcheckError as gone:
        return _not_now(gone)


def _turned_away(error: Rejected) -> ResponseReturnValue:
    """Too many wait already, or the day's calls are spent."""
    return _page(429, f"{error} {_again_in(error.retry_after)}", error.retry_after)


def _unreadable(error: Unreadable) -> ResponseReturnValue:
    """The run is there, and this version of Hopcheck has no words for it; coming again changes nothing."""
    log.warning("%s %s: %s (%s)", request.method, request.endpoint, error, error.__cause__)
    return _page(501, str(error))


def _not_now(error: HopcheckError) -> ResponseReturnValue:
    """Something that Hopcheck leans on, the database above all, cannot be used now; the error says what and why."""
    log.error("%s %s: %s", request.method, request.endpoint, error)
    return _page(503, str(error), RETRY_SECONDS)


def _error_page(error: HTTPException) -> ResponseReturnValue:
    if request.path.startswith(f"{API}/"):  # an address or method that the API has not reaches no handler of its own
        return problem_of(error)
    code = error.code or 500
    wait = seconds_to_wait(error)
    meaning = f"{TOO_FAST} {_again_in(wait)}" if code == 429 and wait else ""
    page, code, headers = _page(code, meaning, wait)
    return page, code, {**headers, **{name: value for name, value in error.get_headers() if name == "Allow"}}


def _again_in(seconds: int) -> str:
    return f"Please try again in {about(seconds)}."


def _page(code: int, meaning: str = "", wait: int | None = None) -> tuple[str, int, dict[str, str]]:
    """The page of a status code. `meaning` replaces the usual words; `wait` is when to come again, in seconds."""
    kept = form_context(sent_form()) if code in (429, 503) and request.method == "POST" else {}
    page = render_template("error.html", code=code, meaning=meaning, **kept)
    return page, code, {"Retry-After": str(wait)} if wait else {}
