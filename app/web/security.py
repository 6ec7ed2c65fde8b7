"""What keeps visitors safe and apart: headers, CSRF, and who owns which runs.

The owner of a run is a random name in Flask's signed session cookie. It only says which runs are "recent runs of this
browser"; a run's page is open to whoever has its link.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from flask import Blueprint, Flask, Response, abort, current_app, g, request, session
from flask.sessions import SecureCookieSessionInterface
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError, CSRFProtect
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from app.batches.files import MAX_BYTES as LARGEST_BATCH
from app.domain.errors import InvalidInput
from app.runs.importing import MAX_BYTES
from app.web.observability import log_refusal_by_status, refused

if TYPE_CHECKING:
    from app.config.settings import Settings


# Streams are for this site's own pages and for programs, not for pages of other sites.
#
# Such a page could read none of it, for no header allows that, but each stream that it opened would hold a thread here.

STREAMS = frozenset({"stream.events", "comparing.events", "api_runs.follow"})

FOREIGN = "A page of another site may not follow a check."


def keep_streams_home() -> None:
    """Refuse a stream to a page of another site, as far as its browser says so; to be asked before each request."""
    if request.endpoint in STREAMS and _is_foreign():
        refused("origin")
        abort(403, FOREIGN)


def _is_foreign() -> bool:
    """Browsers say where a request comes from; one that cannot still names the origin of another site's script."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin.rpartition("//")[2] != request.host


# The session cookie, where clocks are set and differ: one that was signed a little later than now is still good.
#
# Flask's own refuses a cookie from the future. After a clock was put right, or on a web process whose clock is behind
# another's, people would lose their runs to that: they would get a new owner's name in place of theirs.

AHEAD = timedelta(days=1)
"""By so much the clock that a cookie was signed by may have been ahead."""


class PatientSigner(TimestampSigner):
    """Takes what was signed within a day from now for signed now."""

    def unsign(self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        try:
            return super().unsign(signed_value, max_age, return_timestamp)  # type: ignore[call-overload]
        except SignatureExpired as expired:
            if expired.date_signed is None or not datetime.now(UTC) < expired.date_signed <= datetime.now(UTC) + AHEAD:
                raise
            return super().unsign(signed_value, None, return_timestamp)  # type: ignore[call-overload]


class SessionCookies(SecureCookieSessionInterface):
    """Flask's signed cookies, read by that signer."""

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """As Flask's; None where there is no key."""
        serializer = super().get_signing_serializer(app)
        if serializer is not None:
            serializer.signer = PatientSigner
        return serializer


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
    "importing.upload": MAX_BYTES + 64 * 1024,
    "api_keeping.import_report": MAX_BYTES,
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
    app.after_request(log_refusal_by_status)


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


# A form that was sent with a token of another session, or none: each page says so in its own way.

STALE = "This page had grown stale, so nothing was done. Please try again."

Handler = Callable[[CSRFError], ResponseReturnValue]


def when_stale(blueprint: Blueprint) -> Callable[[Handler], Handler]:
    """Make the decorated function answer stale forms of the blueprint's pages.

    It may abort as a view may, which Flask would take for a fault of the server in a handler of errors.
    """

    def register(handler: Handler) -> Handler:
        @wraps(handler)
        def answer(error: CSRFError) -> ResponseReturnValue:
            refused("csrf")
            try:
                return handler(error)
            except HTTPException as refusal:
                return current_app.handle_http_exception(refusal)

        blueprint.register_error_handler(CSRFError, answer)
        return handler

    return register
