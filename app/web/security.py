"""What keeps visitors safe and apart: headers, CSRF, and who owns which runs.

The owner of a run is a random name in Flask's signed session cookie. It only says which runs are "recent runs of this
browser"; a run's page is open to whoever has its link.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from flask import Flask, Response, g, request, session
from flask_wtf.csrf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix

from app.domain.errors import InvalidInput
from app.runs.batch_files import LARGEST as LARGEST_BATCH
from app.runs.importing import LARGEST
from app.web.audit import tell_by_status
from app.web.origins import keep_streams_home
from app.web.session_cookies import SessionCookies

if TYPE_CHECKING:
    from app.config.settings import Settings

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

ONLY_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
"""Sent with the others when people reach the site by https: for a year, browsers then come no other way."""

LARGEST_REQUEST = 256 * 1024
"""Bytes. 500 emoji are 6 KB percent-encoded; a claim that is only somewhat too long gets its form back, not a 413."""

ROOMY = {
    "importing.upload": LARGEST + 64 * 1024,
    "api_keeping.import_report": LARGEST,
    "batches.start": LARGEST_BATCH + 64 * 1024,
    "api_batches.start": LARGEST_BATCH,
}
"""Endpoints that take more, in bytes: a whole report, a file of claims, and what a form writes around it."""

csrf = CSRFProtect()


def protect(app: Flask, settings: Settings) -> None:
    """Headers on every answer, CSRF on every form, a limit on every request, a careful session cookie."""
    believe_proxies(app, settings.proxies)
    app.config.update(
        MAX_CONTENT_LENGTH=LARGEST_REQUEST,
        SESSION_COOKIE_NAME="hopcheck",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.https,
        PERMANENT_SESSION_LIFETIME=365 * 24 * 3600,
        WTF_CSRF_TIME_LIMIT=None,  # a page left open all day still works; the token lives as long as the session
        WTF_CSRF_SSL_STRICT=False,  # that check needs a Referer, which our own Referrer-Policy keeps from being sent
    )
    app.before_request(keep_streams_home)
    app.before_request(_make_room)
    app.before_request(_refuse_other_than_utf8)  # before CSRF, which parses the form and lets the raw bytes go
    csrf.init_app(app)
    app.session_interface = SessionCookies()
    app.jinja_env.globals["form_name"] = form_name
    headers = {**HEADERS, **ONLY_HTTPS} if settings.https else HEADERS
    app.after_request(lambda response: _add_headers(response, headers))
    app.after_request(tell_by_status)


def believe_proxies(app: Flask, number: int) -> None:
    """Take address, scheme and host of a request from what the last `number` proxies say; with 0 nobody is believed."""
    if number:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=number, x_proto=number, x_host=number)  # type: ignore[method-assign]


def owner() -> str:
    """This browser's random name (128 bits), made at its first use."""
    if "owner" not in session:
        session["owner"] = secrets.token_urlsafe(16)
        session.permanent = True
    return session["owner"]


def form_name() -> str:
    """A random name for one form on one page (128 bits), so that sending it twice starts one run."""
    return secrets.token_urlsafe(16)


def let_search_engines_list() -> None:
    """Leave out the header that keeps search engines from listing this page: its report was published."""
    g.published = True


def _make_room() -> None:
    """Whatever is larger still is refused by its length, unread."""
    if most := ROOMY.get(request.endpoint or ""):
        request.max_content_length = request.max_form_memory_size = most


def _refuse_other_than_utf8() -> None:
    """A form in another encoding is bad input. Werkzeug would replace bad bytes silently, hence the raw body.

    JSON has no percent signs to resolve; whoever reads it sees to its encoding (api/input.py), and so does who reads a
    file (app/runs/importing.py).
    """
    if request.method != "POST" or request.mimetype == "application/json" or request.endpoint in ROOMY:
        return
    body = request.get_data(cache=True)
    try:
        unquote_to_bytes(body).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("The claim must be text in UTF-8; what arrived was not.") from None


def _add_headers(response: Response, headers: Mapping[str, str]) -> Response:
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    if response.mimetype == "text/html":
        response.headers.setdefault("Cache-Control", "private, no-cache")
    if request.path.startswith(("/runs", "/batches", "/compare", "/api/")) and not g.get("published"):
        response.headers["X-Robots-Tag"] = "noindex"
    return response
