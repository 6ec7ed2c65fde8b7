"""Access control: allowed host names, the site password, and limits on starting runs and guessing the password.

Where SITE_PASSWORD is set, a browser that has given it gets a proof in its signed cookie, valid until the password or
the signing key changes; a program sends an API token (API_TOKENS). /healthz, /metrics (which has its own token), the
static files and the icon stay open. Reading is not limited. Requests to start a run or a batch, or to import a report,
count before their work, also those that are then refused. Counts are kept in Redis where REDIS_URL is set. While Redis
is down, and without it, each process counts in its own memory.
"""

from __future__ import annotations

import hmac
import math
import re
import time
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, abort, current_app, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter, RequestLimit
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import TooManyRequests, Unauthorized
from werkzeug.urls import iri_to_uri

from app.config.settings import Settings, is_loopback
from app.domain.errors import InvalidInput, SettingsError
from app.domain.messages import Words
from app.web import services
from app.web.api.blueprint import API, problem, seconds_to_wait
from app.web.auth import CHALLENGE, client, stored_hashes, token_name
from app.web.observability import client_address, healthz, log_refusal
from app.web.security import STALE, is_foreign
from app.web.views import about

site_password = Blueprint("site_password", __name__)

OPEN_ENDPOINTS = frozenset(
    {"health.healthz", "metrics.scrape", "static", "pages.favicon", "site_password.ask", "site_password.enter"}
)

ASK_STATUS = 403
WRONG_STATUS = 422
PASSWORD_REQUIRED = Words("This site asks for its password, or for a token that is known here.")

_LOCAL = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A local address: one slash, then ASCII without backslashes, which browsers treat as slashes."""


UNKNOWN_HOST = Words("This site is not reached by that name. Its operator can add the name to ALLOWED_HOSTS.")


def require_host(app: Flask, settings: Settings) -> None:
    """Answer only requests for a name of this site, and for /healthz, which monitors request by IP address.

    A page of another site could else reach a local server by a name that it resolves to 127.0.0.1 (DNS rebinding).
    Call before other `before_request` functions.
    """

    @app.before_request
    def refuse_unknown_host() -> Response | None:
        if is_name_of_site(request.host, settings):
            return None
        if request.path == "/healthz":
            return healthz()
        log_refusal("host")
        if request.path.startswith(f"{API}/"):
            return problem(400, UNKNOWN_HOST)
        return Response(f"{UNKNOWN_HOST}\n", 400, mimetype="text/plain")


def is_name_of_site(host: str, settings: Settings) -> bool:
    name = host_name(host)
    if name is None:
        return False
    if settings.is_local:
        return is_loopback(name) or name == settings.host
    return not settings.allowed_hosts or name in settings.allowed_hosts


def host_name(host: str) -> str | None:
    """Return the name or address in a Host header in lower case, without port and brackets; None if it is malformed."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").removesuffix(".")
        if ":" in name:
            return str(ip_address(name))
        name.encode("idna").decode("idna")  # raises UnicodeError, a ValueError, for an empty or too long part
    except ValueError:
        return None
    return name if name and not name.endswith(".") else None


def require_password(app: Flask, settings: Settings) -> None:
    """Require the password for every page. Call before other `before_request` functions that return responses."""
    if settings.site_password:
        app.before_request(_require_access)


def _require_access() -> ResponseReturnValue | None:
    if request.endpoint in OPEN_ENDPOINTS or _has_access():
        return None
    if not request.path.startswith(f"{API}/"):
        wanted = iri_to_uri(request.full_path).removesuffix("?") if request.method == "GET" else ""
        return _form(ASK_STATUS, wanted=wanted)
    if token_name():
        return None
    log_refusal("password")
    raise Unauthorized(PASSWORD_REQUIRED, www_authenticate=CHALLENGE)


@site_password.get("/password")
def ask() -> ResponseReturnValue:
    """Show the form; 404 where SITE_PASSWORD is not set."""
    return _form(200) if services().settings.site_password else abort(404)


@site_password.post("/password")
def enter() -> ResponseReturnValue:
    """Check the password, give this browser access and redirect to the page that it requested."""
    expected = services().settings.site_password or abort(404)
    if not hmac.compare_digest(request.form.get("password", "").encode(), expected.encode()):
        log_refusal("password")
        return _form_again(WRONG_STATUS, Words("That is not the password."))
    session["let_in"] = _proof()
    session.permanent = True
    return redirect(_on_this_site(request.form.get("wanted", "")), 303)


@site_password.errorhandler(CSRFError)
def _stale(error: CSRFError) -> ResponseReturnValue:
    log_refusal("csrf")
    return _form_again(400, STALE)


@site_password.errorhandler(InvalidInput)
def _unreadable(error: InvalidInput) -> ResponseReturnValue:
    return _form_again(400, Words("The password must be text in UTF-8; what arrived was not."))


@site_password.errorhandler(TooManyRequests)
def _too_many(error: TooManyRequests) -> ResponseReturnValue:
    wait = seconds_to_wait(error) or 60
    answer = _form_again(
        429, Words("Too many wrong passwords came from your address. Please try again in {wait}.", wait=about(wait))
    )
    answer.headers["Retry-After"] = str(wait)
    return answer


def _form_again(code: int, notice: str) -> Response:
    return _form(code, notice, request.form.get("wanted", ""))


def _form(code: int, notice: str = "", wanted: str = "") -> Response:
    page = render_template("password.html", notice=notice, wanted=_on_this_site(wanted))
    return Response(page, code, mimetype="text/html")


def _has_access() -> bool:
    return hmac.compare_digest(str(session.get("let_in", "")), _proof())


def _proof() -> str:
    """Return the cookie's value, which reveals nothing about the password without the signing key."""
    key, password = str(current_app.secret_key).encode(), services().settings.site_password or ""
    return hmac.digest(key, b"site password: " + password.encode(), "sha256").hex()


def _on_this_site(address: str) -> str:
    """Return the address if it is local, else "/", so that the form cannot redirect to another site."""
    return address if _LOCAL.fullmatch(address) else "/"


SETUP = "setup"
"""The blueprint of the page "Set up"."""
FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")
"""Headers of reverse proxies. Behind one that PROXIES does not count, loopback is not only this machine."""
FOREIGN_FORM = Words("A page of another site may not set up this one.")


def require_operator(app: Flask) -> None:
    """Open the page "Set up" to the operator only. Call before anything reads forms."""
    app.before_request(_require_operator)


def _require_operator() -> ResponseReturnValue | None:
    if request.blueprint != SETUP:
        return None
    if request.method != "GET" and is_foreign(request.headers, request.host):
        log_refusal("origin")
        abort(403, FOREIGN_FORM)
    if request.endpoint == "setup.sign_in" or (state := operator_state()) == "open":
        return None
    log_refusal("operator")
    return Response(render_template("operator.html", state=state), ASK_STATUS, mimetype="text/html")


@site_password.app_template_global()
def is_operator() -> bool:
    """Return whether this browser may set up the site."""
    return operator_state() == "open"


def operator_state() -> Literal["open", "token", "closed"]:
    """Return whether this browser may set up the site, may with a token, or cannot because the site has no secret.

    The operator is who gave the site's password or a token, and without a password anybody on this machine where only
    this machine reaches the site.
    """
    settings = services().settings
    if settings.site_password:
        may = _has_access()
    else:
        may = settings.is_local and not any(name in request.headers for name in FORWARDED)
    if may or _has_token():
        return "open"
    return "token" if settings.api_tokens else "closed"


def _has_token() -> bool:
    path, proof = services().settings.api_tokens, session.get("operator")
    if not path or not proof:
        return False
    try:
        known = stored_hashes(path)
    except SettingsError:
        return False
    return any(hmac.compare_digest(str(proof), operator_proof(each)) for each in known)


def operator_proof(token: str) -> str:
    """Return the cookie's value for the token of this hash, valid while the token is known and the key is the same."""
    return hmac.digest(str(current_app.secret_key).encode(), b"operator: " + token.encode(), "sha256").hex()


START_ENDPOINTS = frozenset(
    {
        "pages.start",
        "branching.branch",
        "batches.start",
        "batches.recheck",
        "importing.upload",
        "api.startBatch",
        "api.startRun",
        "api.branchRun",
        "api.importReport",
    }
)
"""The endpoints whose requests RATE_LIMIT counts. They share one count."""

PASSWORD_LIMIT = "10 per minute; 100 per day"
"""Attempts from one address since its last correct password."""

REDIS_SECONDS = 0.5
"""Time limit for Redis, after which this process counts in memory."""


def limit_requests(app: Flask, settings: Settings) -> None:
    """Limit requests to START_ENDPOINTS to RATE_LIMIT per client and passwords to PASSWORD_LIMIT; answer 429 beyond."""
    timeouts: dict[str, Any] = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
    limiter = Limiter(
        client,
        app=app,
        application_limits=[settings.rate_limit],
        application_limits_exempt_when=lambda: request.endpoint not in START_ENDPOINTS or request.method != "POST",
        on_breach=_refuse,
        storage_uri=settings.redis_url or "memory://",
        storage_options=timeouts if settings.redis_url else {},
        in_memory_fallback_enabled=bool(settings.redis_url),
        swallow_errors=True,
        strategy="moving-window",
    )
    _limit_guesses(app, limiter)


def _limit_guesses(app: Flask, limiter: Limiter) -> None:
    """Count every attempt before the password is compared, so that simultaneous guesses cannot exceed the limit."""
    limiter.limit(PASSWORD_LIMIT, key_func=client_address, methods=["POST"])(site_password)

    @app.after_request
    def forget_attempts(response: Response) -> Response:
        """Clear the address's count after a correct password."""
        if request.blueprint == site_password.name and response.status_code == 303:
            for each in limiter.current_limits:
                limiter.limiter.clear(each.limit, *each.request_args)
        return response


def _refuse(limit: RequestLimit) -> Response:
    """Log the refusal. Return a response that says when the oldest counted request leaves the window."""
    log_refusal("limit")
    seconds = max(1, math.ceil(limit.reset_at - time.time()))
    return Response(status=429, headers={"Retry-After": str(seconds)})
