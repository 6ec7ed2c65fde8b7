"""Limit how many runs a client may start, and how often it may guess the site's password.

Reading is not limited, and only requests that started something count. Counts are kept in Redis where REDIS_URL is set.
While Redis is down, and without it, each process counts in its own memory.
"""

from __future__ import annotations

import math
import time
from typing import Any

from flask import Flask, Response, request
from flask_limiter import Limiter, RequestLimit

from app.config.settings import Settings
from app.web.api.auth import client
from app.web.observability import client_address, refused
from app.web.site_password import site_password

START_ENDPOINTS = frozenset(
    {
        "pages.start",
        "branching.branch",
        "batches.start",
        "importing.upload",
        "api_batches.start",
        "api_runs.start",
        "api_steering.branch",
        "api_keeping.import_report",
    }
)
"""The endpoints that start runs. They share one count."""

PASSWORD_LIMIT = "10 per minute; 100 per day"
"""Attempts from one address since its last correct password."""

REDIS_SECONDS = 0.5
"""Time limit for Redis, after which this process counts in memory."""


def limit_requests(app: Flask, settings: Settings) -> None:
    """Answer 429 with Retry-After to a client that started as many runs as RATE_LIMIT allows."""
    timeouts: dict[str, Any] = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
    limiter = Limiter(
        client,
        app=app,
        application_limits=[settings.rate_limit],
        application_limits_exempt_when=lambda: request.endpoint not in START_ENDPOINTS or request.method != "POST",
        application_limits_deduct_when=lambda response: response.status_code in (201, 303),
        on_breach=_refuse,
        storage_uri=settings.redis_url or "memory://",
        storage_options=timeouts if settings.redis_url else {},
        in_memory_fallback_enabled=bool(settings.redis_url),
        swallow_errors=True,  # Redis may fail between the check and the count; the run has started by then
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
    refused("limit")
    seconds = max(1, math.ceil(limit.reset_at - time.time()))
    return Response(status=429, headers={"Retry-After": str(seconds)})
