"""The site's password, where SITE_PASSWORD is set: whoever has not typed it sees the form for it in place of any page.

A flag in the signed cookie lets a browser in until the password or the signing key changes. A program gets in with a
token (API_TOKENS). What stays open: /healthz, /metrics, which asks for a token of its own, and the static files.
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
from app.web.security import STALE, when_stale
from app.web.services import services
from app.web.views import about

site_password = Blueprint("site_password", __name__)

OPEN = frozenset({"health.healthz", "metrics.scrape", "static", "site_password.ask", "site_password.enter"})

ASKED = 403
WRONG = 422
SECRET = "This site asks for its password, or for a token that is known here."

_LOCAL = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""An address on this site: one slash first, then ASCII without backslashes, which browsers take for slashes."""


def ask_strangers(app: Flask, settings: Settings) -> None:
    """Register before whatever answers with a page: a stranger gets no other one than the form."""
    if settings.site_password:
        app.before_request(_ask_strangers)


def _ask_strangers() -> ResponseReturnValue | None:
    if request.endpoint in OPEN or _is_let_in():
        return None
    if not request.path.startswith(f"{API}/"):
        wanted = iri_to_uri(request.full_path).removesuffix("?") if request.method == "GET" else ""
        return _form(ASKED, wanted=wanted)
    if token_name():
        return None
    refused("password")
    answer = problem(401, SECRET)
    answer.headers["WWW-Authenticate"] = str(WWWAuthenticate("bearer", {"realm": "Hopcheck"}))
    return answer


@site_password.get("/password")
def ask() -> ResponseReturnValue:
    """The form. Nothing, where the site asks for no password."""
    return _form(200) if services().settings.site_password else abort(404)


@site_password.post("/password")
def enter() -> ResponseReturnValue:
    """Let this browser in, and lead to the page that it wanted."""
    expected = services().settings.site_password or abort(404)
    if not hmac.compare_digest(request.form.get("password", "").encode(), expected.encode()):
        refused("password")
        return _again(WRONG, "That is not the password.")
    session["let_in"] = _proof()
    session.permanent = True
    return redirect(_on_this_site(request.form.get("wanted", "")), 303)


@when_stale(site_password)
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


def _is_let_in() -> bool:
    return hmac.compare_digest(str(session.get("let_in", "")), _proof())


def _proof() -> str:
    """What the cookie holds: nothing that the password could be found from without the signing key."""
    key, password = str(current_app.secret_key).encode(), services().settings.site_password or ""
    return hmac.digest(key, b"site password: " + password.encode(), "sha256").hex()


def _on_this_site(address: str) -> str:
    """The address if it is one of this site's, else that of the first page: no link leads from here to elsewhere."""
    return address if _LOCAL.fullmatch(address) else "/"
