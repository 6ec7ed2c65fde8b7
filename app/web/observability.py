"""Observability of the web application: request and audit logs, health checks and Prometheus metrics.

The logs contain no query values, form fields or addresses.
"""

from __future__ import annotations

import hmac
import logging
import time
from concurrent.futures import Future
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock, Thread
from typing import Literal
from urllib.parse import quote
from weakref import WeakKeyDictionary

from flask import Blueprint, Flask, Response, abort, current_app, g, jsonify, request

from app.components import Component
from app.config import FLASK
from app.domain.errors import HopcheckError
from app.logging import current_run
from app.runs.service import Runs
from app.web import services

# Operators filter by these names (docs/operations.md).
access_log = logging.getLogger("app.web.access_log")
audit_log = logging.getLogger("app.web.audit")

QUIET_ENDPOINTS = frozenset({"health.healthz", "health.readyz", "metrics.scrape"})
"""Requested every few seconds by monitoring systems, so logged at DEBUG."""

MAX_PATH_CHARACTERS = 200
"""Maximum length of a path, and of a run's id, in the access log."""

MAX_AUDIT_ID_CHARACTERS = 64

Reason = Literal["csrf", "owner", "limit", "password", "token", "origin", "size", "type", "full", "host", "operator"]
"""Why a request is refused. "limit": this client sent too many requests; "full": the queue of runs is full or a daily
limit is reached."""

REASON_BY_STATUS: dict[int, Reason] = {413: "size", 415: "type", 429: "full"}
"""The reason to log for a response with this status, unless one was logged already, as the rate limit does for 429."""

IPV6_CLIENT_BITS = 64
"""Leading bits of an IPv6 address that identify a client, because a household usually gets a whole /64 network."""

DATABASE_SECONDS = 0.5
"""Time for which /readyz waits for its check of the database."""

health = Blueprint("health", __name__)
metrics = Blueprint("metrics", __name__)


def log_requests(app: Flask) -> None:
    """Log method, path, status, milliseconds and run of each request.

    Call this before other request hooks are registered: a hook that refuses a request skips all later ones.
    """
    app.before_request(_begin_request)
    app.after_request(_log_request)


def log_run(run_id: str) -> None:
    """Add the run to this request's log line, for routes whose path does not contain it."""
    g.run_id = run_id
    current_run.set(run_id)


def _begin_request() -> None:
    g.began = time.perf_counter()
    current_run.set((request.view_args or {}).get("run_id"))


def _log_request(response: Response) -> Response:
    """Log the request; a stream is logged when it closes."""
    began = g.get("began") or time.perf_counter()  # not set if the session could not be opened
    run_id = g.get("run_id") or (request.view_args or {}).get("run_id")
    level = logging.DEBUG if request.endpoint in QUIET_ENDPOINTS else logging.INFO
    method_and_path = f"{request.method} {quote(request.path, safe='/')[:MAX_PATH_CHARACTERS]}"
    suffix = f" run {quote(run_id)[:MAX_PATH_CHARACTERS]}" if run_id else ""

    def write() -> None:
        milliseconds = 1000 * (time.perf_counter() - began)
        extra = {"run": run_id}  # a stream closes after its request, when `current_run` may have changed
        access_log.log(
            level, "%s %d %.0f ms%s", method_and_path, response.status_code, milliseconds, suffix, extra=extra
        )

    if response.mimetype == "text/event-stream":
        response.call_on_close(write)
    else:
        write()
    return response


def log_refusal(reason: Reason) -> None:
    """Log that the current request is refused, with a pseudonym of the client's address."""
    g.refused = True
    arguments = request.view_args or {}
    ids = {"run": arguments.get("run_id"), "batch": arguments.get("batch_id")}
    suffix = "".join(f" {kind} {quote(value)[:MAX_AUDIT_ID_CHARACTERS]}" for kind, value in ids.items() if value)
    audit_log.warning("refused (%s): %s %s from %s%s", reason, request.method, request.endpoint, _pseudonym(), suffix)


def log_refusal_by_status(response: Response) -> Response:
    """Log a refusal that `log_refusal` has not logged, with the reason that the response's status implies."""
    if (reason := REASON_BY_STATUS.get(response.status_code)) and not g.get("refused"):
        log_refusal(reason)
    return response


def client_address() -> str:
    """Return the client's network, as `client_network` does.

    Forwarding headers count only if they come from trusted proxies (setting PROXIES).
    """
    return client_network(request.remote_addr or "")


def client_network(raw: str) -> str:
    """Return an IPv4 address as it is, and the /64 network of an IPv6 address."""
    try:
        address = ip_address(raw)
    except ValueError:  # a Unix socket has no address
        return raw or "unknown"
    if not isinstance(address, IPv6Address):
        return raw
    return str(address.ipv4_mapped or ip_network((address.packed, IPV6_CLIENT_BITS), strict=False))


def _pseudonym() -> str:
    """Return a keyed digest of the address: equal for one client, and not reversible without the signing key."""
    key = str(current_app.secret_key).encode()
    return hmac.digest(key, client_address().encode(), "sha256").hex()[:12]


@health.get("/healthz")
def healthz() -> Response:
    """Return 200 as long as the process responds, without touching the database or a model."""
    return Response("ok\n", mimetype="text/plain", headers={"Cache-Control": "no-store"})


@health.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Return 200 when runs can be executed, 503 while a component is missing or loading. Takes about a second at most.

    `parts` lists the components: state is "ready", "waiting", "loading" or "failed"; a failed one has a message and,
    in `mend`, the command that fixes it.
    """
    parts = [
        _database(services().runs),
        *_workers(services().runs),
        *services().components(),
    ]
    ready = all(part.state == "ready" for part in parts)
    fields = ({"name": each.name, "state": each.state, "message": each.message, "mend": each.fix} for each in parts)
    answer = jsonify(ready=ready, parts=[{name: value for name, value in each.items() if value} for each in fields])
    answer.headers["Cache-Control"] = "no-store"
    return answer, 200 if ready else 503


_database_checks: WeakKeyDictionary[Runs, Future[None]] = WeakKeyDictionary()
_database_checks_lock = Lock()


def _database(runs: Runs) -> Component:
    """Check that the database is reachable, has its tables and can be written.

    A check that takes longer than DATABASE_SECONDS continues in its thread; later requests wait for the same check
    instead of starting another thread.
    """
    with _database_checks_lock:
        check = _database_checks.get(runs)
        if check is None or check.done():
            check = _database_checks[runs] = Future()
            Thread(target=_check_database, args=(runs, check), name="readyz", daemon=True).start()
    try:
        check.result(DATABASE_SECONDS)
    except TimeoutError:
        message = "The database does not answer, or another program holds it locked."
        return Component("database", "failed", message, f"{FLASK} doctor")
    except HopcheckError as error:
        return Component("database", "failed", str(error), f"{FLASK} doctor")
    return Component("database", "ready")


def _check_database(runs: Runs, check: Future[None]) -> None:
    try:
        runs.check_database()
    except BaseException as error:  # raised by `result` in the requests that wait
        check.set_exception(error)
    else:
        check.set_result(None)


def _workers(runs: Runs) -> tuple[Component, ...]:
    """Check that a worker is running. Returns nothing where this process executes its runs itself."""
    try:
        names = runs.workers()
    except HopcheckError as error:
        return (Component("workers", "failed", str(error), f"{FLASK} doctor"),)
    if names:
        return (Component("workers", "ready"),)
    none_runs = Component("workers", "failed", "No worker is running, so runs wait.", f"{FLASK} worker")
    return () if names is None else (none_runs,)


@metrics.get("/metrics")
def scrape() -> Response:
    """Return Prometheus metrics of this process and the database; 404 for a request without the token METRICS_TOKEN."""
    expected = services().settings.metrics_token or abort(404)
    if not hmac.compare_digest(bearer_token().encode(), expected.encode()):
        log_refusal("token")
        abort(404)
    text = current_app.extensions["hopcheck.metrics"].text()
    return Response(text, mimetype="text/plain", headers={"Cache-Control": "no-store"})


def bearer_token() -> str:
    """Return the bearer token in the request's Authorization header, "" without one."""
    try:
        given = request.authorization
    except ValueError:  # Werkzeug fails on a user name or password that is not ASCII
        return ""
    if given is None or given.type != "bearer":
        return ""
    return given.token or ""
