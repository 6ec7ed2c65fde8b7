"""How many runs one address or token may start, and how often one may guess the site's password.

Reading is not limited, and a form that was refused costs nothing. The counts live in Redis where there is one
(counters.py), else in this process's memory: a restart forgets them then, and each of several servers has its own.

A request is counted as it comes and given back where it came to nothing. Asked first and counted afterwards, all who
come at the same moment would get in.
"""

from __future__ import annotations

import math
import time
from typing import NoReturn, cast

from flask import Flask, Response, request
from flask_limiter import Limiter, RequestLimit
from werkzeug.exceptions import TooManyRequests

from app.settings import Settings
from app.web.api.askers import token_name
from app.web.audit import refused
from app.web.counters import SteadyStorage, counters_at
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
        on_breach=_turn_away,
        storage_uri=counters_at(settings.redis_url),
        strategy="moving-window",
    )
    limiter.limit(GUESSES, key_func=sender, methods=["POST"])(site_password)
    app.after_request(lambda response: _give_back(limiter, response))
    share_room(app, settings.max_waiting, _starter)


def _starter() -> str:
    """A program with a token counts as that, wherever it is; everybody else by the address."""
    name = token_name() if request.endpoint and request.endpoint.startswith("api_") else None
    return f"token {name}" if name else sender()


def _turn_away(limit: RequestLimit) -> NoReturn:
    """Say when the oldest of the counted starts will be forgotten."""
    refused("limit")
    raise TooManyRequests(retry_after=max(1, math.ceil(limit.reset_at - time.time())))


def _give_back(limiter: Limiter, response: Response) -> Response:
    """Take what came to nothing off the counts in which it got a place."""
    if not _counts(response):
        for each in limiter.current_limits:
            if not each.breached:
                cast(SteadyStorage, limiter.storage).give_back(each.key)
    return response


def _counts(response: Response) -> bool:
    """Whether a run was started, for only that leads to another page or makes something; or a wrong password typed."""
    if request.blueprint == site_password.name:
        return response.status_code == WRONG
    return response.status_code in (201, 303)
