"""Request security: headers, CSRF, size limits, session cookies and the origin of streams.

In a browser, the owner of a run is a random name in Flask's signed session cookie. The name decides which runs the
browser lists as recent, and who may change a run or read its notes; anybody with a run's link can read the report.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from flask import Flask, Response, abort, g, request, session
from flask.sessions import SecureCookieSessionInterface
from flask_wtf.csrf import CSRFProtect
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from werkzeug.datastructures import Headers
from werkzeug.middleware.proxy_fix import ProxyFix

from app.batches.files import MAX_BYTES as MAX_BATCH_BYTES
from app.domain.errors import InvalidInput
from app.domain.messages import Words
from app.runs.transfer import MAX_BYTES
from app.web.observability import log_refusal, log_refusal_by_status

if TYPE_CHECKING:
    from app.config.settings import Settings


STREAMS = frozenset({"stream.events", "api.followRun"})

FOREIGN = Words("A page of another site may not follow a check.")


def refuse_foreign_streams() -> None:
    """Refuse streams to pages of other sites. Such a page cannot read a stream, but would hold a server thread."""
    if request.endpoint in STREAMS and is_foreign(request.headers, request.host):
        log_refusal("origin")
        abort(403, FOREIGN)


def is_foreign(headers: Headers, host: str) -> bool:
    """Return whether a request comes from another site, by Sec-Fetch-Site or, in older browsers, by Origin."""
    site, origin = headers.get("Sec-Fetch-Site"), headers.get("Origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin.rpartition("//")[2] != host


MAX_CLOCK_SKEW = timedelta(days=1)
"""Accepted lead of the clock with which a cookie was signed."""


class ClockSkewSigner(TimestampSigner):
    """Accept cookies signed up to MAX_CLOCK_SKEW in the future, for web processes whose clocks differ.

    Flask would refuse them, and the browser would lose its runs, because it would get a new owner name.
    """

    def unsign(self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        try:
            return super().unsign(signed_value, max_age, return_timestamp)  # type: ignore[call-overload]
        except SignatureExpired as expired:
            if (
                expired.date_signed is None
                or not datetime.now(UTC) < expired.date_signed <= datetime.now(UTC) + MAX_CLOCK_SKEW
            ):
                raise
            return super().unsign(signed_value, None, return_timestamp)  # type: ignore[call-overload]


class SessionCookies(SecureCookieSessionInterface):
    """Flask's signed cookies with tolerance for clock skew."""

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """Return Flask's serializer with the tolerant signer, None without a key."""
        serializer = super().get_signing_serializer(app)
        if serializer is not None:
            serializer.signer = ClockSkewSigner
        return serializer


POLICY = "Content-Security-Policy"

HEADERS = {
    POLICY: (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

REVALIDATED = ("text/html", "image/png")
"""Types that a browser may keep if it asks each time whether they have changed: pages and share cards."""

HTTPS_HEADERS = {"Strict-Transport-Security": "max-age=31536000"}
"""Added when the site is served over https: browsers then use https only, for a year."""

MAX_REQUEST_BYTES = 256 * 1024
"""A text of 20,000 emoji (MAX_TEXT_CHARACTERS) is 240 KB percent-encoded."""

MAX_UPLOAD_BYTES = 64 * 1024**2
"""Of documents that the operator sends at once."""

LARGER_LIMITS = {
    "setup.documents": MAX_UPLOAD_BYTES + 64 * 1024,
    "importing.upload": MAX_BYTES + 64 * 1024,
    "api.importReport": MAX_BYTES,
    "batches.start": MAX_BATCH_BYTES + 64 * 1024,
    "api.startBatch": MAX_BATCH_BYTES,
}
"""Bytes by endpoint that accepts a report, claims or documents, with 64 KiB for the encoding of a form."""

csrf = CSRFProtect()


def protect(app: Flask, settings: Settings) -> None:
    """Add headers, CSRF protection, size limits and secure session cookies to the application."""
    trust_proxies(app, settings.proxies)
    app.config.update(
        MAX_CONTENT_LENGTH=MAX_REQUEST_BYTES,
        SESSION_COOKIE_NAME="hopcheck",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.https,
        PERMANENT_SESSION_LIFETIME=365 * 24 * 3600,
        WTF_CSRF_TIME_LIMIT=None,  # a page left open all day still works; the token lives as long as the session
        WTF_CSRF_SSL_STRICT=False,  # that check needs a Referer, which our own Referrer-Policy keeps from being sent
    )
    app.before_request(refuse_foreign_streams)
    app.before_request(_raise_size_limit)
    app.before_request(_limit_fields)
    app.before_request(_require_utf8)  # before CSRF, which parses the form and discards the raw bytes
    csrf.init_app(app)
    app.session_interface = SessionCookies()
    app.jinja_env.globals["form_name"] = form_name
    headers = {**HEADERS, **HTTPS_HEADERS} if settings.https else HEADERS
    app.after_request(lambda response: _add_headers(response, headers))
    app.after_request(log_refusal_by_status)


def trust_proxies(app: Flask, number: int) -> None:
    """Take address, scheme and host of a request from the last `number` proxies; with 0 no proxy is trusted."""
    if number:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=number, x_proto=number, x_host=number)  # type: ignore[method-assign]


def owner() -> str:
    """Return this browser's random name (128 bits), setting the cookie at its first use."""
    if "owner" not in session:
        session["owner"] = secrets.token_urlsafe(16)
        session.permanent = True
    return session["owner"]


def form_name() -> str:
    """Return a random name for a form (128 bits), so that submitting it twice starts one run."""
    return secrets.token_urlsafe(16)


def allow_indexing() -> None:
    """Omit the noindex header from this page, for published reports."""
    g.published = True


def allow_embedding(response: Response, origins: Sequence[str]) -> Response:
    """Let pages of these origins show this response in a frame. It must have no controls (clickjacking)."""
    nobody, listed = "frame-ancestors 'none'", f"frame-ancestors {' '.join(origins)}"
    response.headers[POLICY] = HEADERS[POLICY].replace(nobody, listed)
    return response


def _raise_size_limit() -> None:
    """Raise the size limit for the endpoints that accept files. Requests over the limit are refused unread."""
    if limit := LARGER_LIMITS.get(request.endpoint or ""):
        request.max_content_length = request.max_form_memory_size = limit


def _limit_fields() -> None:
    """Refuse urlencoded forms with more fields than Werkzeug allows in multipart ones.

    It would parse a million of them for seconds.
    """
    limit = request.max_form_parts or 0
    if request.mimetype == "application/x-www-form-urlencoded" and request.get_data(cache=True).count(b"&") >= limit:
        abort(413)


def _require_utf8() -> None:
    """Refuse forms in other encodings, reading the raw body because Werkzeug replaces invalid bytes.

    JSON and files are checked where they are read (app/web/api/blueprint.py, app/runs/transfer.py).
    """
    if request.method != "POST" or request.mimetype == "application/json" or request.endpoint in LARGER_LIMITS:
        return
    body = request.get_data(cache=True)
    try:
        unquote_to_bytes(body).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(Words("The claim must be text in UTF-8; what arrived was not.")) from None


def _add_headers(response: Response, headers: Mapping[str, str]) -> Response:
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    if request.endpoint != "static":  # lists, reports and exports of one browser or token
        caching = "private, no-cache" if response.mimetype in REVALIDATED else "no-store"
        response.headers.setdefault("Cache-Control", caching)
    if request.path.startswith(("/runs", "/batches", "/compare", "/api/")) and not g.get("published"):
        response.headers["X-Robots-Tag"] = "noindex"
    return response


STALE = Words("This page was out of date, so nothing was done. Please try again.")
