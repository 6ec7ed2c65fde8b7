"""One line a request in the log: method, path, status, milliseconds, and the run where there is one.

What people wrote stays out: no query values, no form, no address. A stream's line comes when its reader has gone.
"""

from __future__ import annotations

import logging
import time
from urllib.parse import quote

from flask import Flask, Response, g, request

log = logging.getLogger(__name__)

QUIET = frozenset({"health.healthz", "health.readyz", "metrics.scrape"})
"""Asked every few seconds by machines: worth a line only to whoever wants every line."""

LONGEST_PATH = 200


def log_requests(app: Flask) -> None:
    """Log every request of `app`. Register first: what later ones refuse is logged too."""
    app.before_request(_begin)
    app.after_request(_end)


def about_run(run_id: str) -> None:
    """Say that this request is about that run, where its path does not say so."""
    g.run_id = run_id


def _begin() -> None:
    g.began = time.perf_counter()


def _end(response: Response) -> Response:
    began = g.get("began") or time.perf_counter()
    run_id = g.get("run_id") or (request.view_args or {}).get("run_id")
    level = logging.DEBUG if request.endpoint in QUIET else logging.INFO
    asked = f"{request.method} {quote(request.path, safe='/')[:LONGEST_PATH]}"
    about = f" run {quote(run_id)[:LONGEST_PATH]}" if run_id else ""

    def write() -> None:
        milliseconds = 1000 * (time.perf_counter() - began)
        log.log(level, "%s %d %.0f ms%s", asked, response.status_code, milliseconds, about)

    if response.mimetype == "text/event-stream":
        response.call_on_close(write)
    else:
        write()
    return response
