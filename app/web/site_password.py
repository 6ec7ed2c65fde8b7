"""Password protection of the site, where SITE_PASSWORD is set.

A proof in the signed cookie admits a browser until the password or the signing key changes. A program is admitted by an
API token (API_TOKENS). /healthz, /metrics (which has its own token) and the static files stay open.
"""

from __future__ import annotations

import hmac
import re

from flask import Blueprint, Flask, Response, abort, current_app, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import TooManyRequests
from werkzeug.urls import iri_to_uri

from app.config.settings import Settings
from app.domain.errors import InvalidInput
from app.web.api.auth import token_name
from app.web.api.blueprint import API, problem, seconds_to_wait
from app.web.observability import refused
from app.web.security import STALE, on_csrf_error
from app.web.services import services
from app.web.views import about

site_password = Blueprint("site_password", __name__)

OPEN_ENDPOINTS = frozenset({"health.healthz", "metrics.scrape", "static", "site_password.ask", "site_password.enter"})

ASK_STATUS = 403
WRONG_STATUS = 422
PASSWORD_REQUIRED = "This site asks for its password, or for a token that is known here."

_LOCAL = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A local address: one slash, then ASCII without backslashes, which browsers treat as slashes."""


def require_password(app: Flask, settings: Settings) -> None:
    """Require the password for every page. Register before the functions that respond with pages."""
    if settings.site_password:
        app.before_request(_check_admission)


def _check_admission() -> ResponseReturnValue | None:
    """Return the password form, or problem details for the API, unless the client is admitted."""
    if request.endpoint in OPEN_ENDPOINTS or _is_admitted():
        return None
    if not request.path.startswith(f"{API}/"):
        wanted = iri_to_uri(request.full_path).removesuffix("?") if request.method == "GET" else ""
        return _form(ASK_STATUS, wanted=wanted)
    if token_name():
        return None
    refused("password")
    answer = problem(401, PASSWORD_REQUIRED)
    answer.headers["WWW-Authenticate"] = str(WWWAuthenticate("bearer", {"realm": "Hopcheck"}))
    return answer


@site_password.get("/password")
def ask() -> ResponseReturnValue:
    """Show the form; 404 where SITE_PASSWORD is not set."""
    return _form(200) if services().settings.site_password else abort(404)


@site_password.post("/password")
def enter() -> ResponseReturnValue:
    """Check the password, admit this browser and redirect to the page that it requested."""
    expected = services().settings.site_password or abort(404)
    if not hmac.compare_digest(request.form.get("password", "").encode(), expected.encode()):
        refused("password")
        return _again(WRONG_STATUS, "That is not the password.")
    session["let_in"] = _proof()
    session.permanent = True
    return redirect(_on_this_site(request.form.get("wanted", "")), 303)


@on_csrf_error(site_password)
def _stale(error: CSRFError) -> ResponseReturnValue:
    return _again(400, STALE)


@site_password.errorhandler(InvalidInput)
def _unreadable(error: InvalidInput) -> ResponseReturnValue:
    return _again(400, "The password must be text in UTF-8; what arrived was not.")


@site_password.errorhandler(TooManyRequests)
def _too_many(error: TooManyRequests) -> ResponseReturnValue:
    wait = seconds_to_wait(error) or 60
    answer = _again(429, f"Too many wrong passwords came from your address. Please try again in {about(wait)}.")
    answer.headers["Retry-After"] = str(wait)
    return answer


def _again(code: int, notice: str) -> Response:
    return _form(code, notice, request.form.get("wanted", ""))


def _form(code: int, notice: str = "", wanted: str = "") -> Response:
    page = render_template("password.html", notice=notice, wanted=_on_this_site(wanted))
    return Response(page, code, mimetype="text/html")


def _is_admitted() -> bool:
    return hmac.compare_digest(str(session.get("let_in", "")), _proof())


def _proof() -> str:
    """Return the value of the cookie, from which the password cannot be found without the signing key."""
    key, password = str(current_app.secret_key).encode(), services().settings.site_password or ""
    return hmac.digest(key, b"site password: " + password.encode(), "sha256").hex()


def _on_this_site(address: str) -> str:
    """Return the address if it is local, else "/", so that the form cannot redirect to another site."""
    return address if _LOCAL.fullmatch(address) else "/"
