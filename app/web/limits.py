"""How many runs one address or token may start, and how often one may guess the site's password.

Reading is not limited, and a form that was refused costs nothing. The counts live in Redis where there is one
(counters.py), else in this process's memory: a restart forgets them then, and each of several servers has its own.
"""

from __future__ import annotations

import math
import time
from typing import NoReturn

from flask import Flask, Response, request
from flask_limiter import Limiter, RequestLimit
from werkzeug.exceptions import TooManyRequests

from app.settings import Settings
from app.web.api.askers import token_name
from app.web.audit import refused
from app.web.counters import counters_at
from app.web.senders import sender
from app.web.shares import share_room
from app.web.site_password import WRONG, site_password

STARTING = frozenset(
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

GUESSES = "10 per minute; 100 per day"
"""Wrong passwords from one address."""


def limit(app: Flask, settings: Settings) -> None:
    """Let each address or token start what RATE_LIMIT says; one more raises TooManyRequests with `retry_after`."""
    limiter = Limiter(
        _starter,
        app=app,
        application_limits=[settings.rate_limit],
        application_limits_exempt_when=lambda: request.endpoint not in STARTING or request.method != "POST",
        application_limits_deduct_when=_started,
        on_breach=_turn_away,
        storage_uri=counters_at(settings.redis_url),
        strategy="moving-window",
    )
    guesses = limiter.limit(
        GUESSES, key_func=sender, methods=["POST"], deduct_when=lambda answer: answer.status_code == WRONG
    )
    guesses(site_password)
    share_room(app, settings.max_waiting, _starter)


def _starter() -> str:
    """A program with a token counts as that, wherever it is; everybody else by the address."""
    name = token_name() if request.endpoint and request.endpoint.startswith("api_") else None
    return f"token {name}" if name else sender()


def _turn_away(limit: RequestLimit) -> NoReturn:
    """Say when the oldest of the counted starts will be forgotten."""
    refused("limit")
    raise TooManyRequests(retry_after=max(1, math.ceil(limit.reset_at - time.time())))


def _started(response: Response) -> bool:
    """Whether a run was started: only that leads to another page, or makes something."""
    return response.status_code in (201, 303)
