"""How many runs one address may start. Reading is not limited, and a form that was refused costs nothing.

The counts live in this process's memory: a restart forgets them, and each of several servers has its own.
"""

from __future__ import annotations

import math
import time
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NoReturn

from flask import Flask, Response, request
from flask_limiter import Limiter, RequestLimit
from werkzeug.exceptions import TooManyRequests

STARTING = frozenset(
    {
        "pages.start",
        "branching.branch",
        "importing.upload",
        "api_runs.start",
        "api_steering.branch",
        "api_keeping.import_report",
    }
)
"""The endpoints that start runs. They share one count."""

IPV6_BITS = 64
"""A household gets at least so much of an IPv6 address for itself, so the rest tells nobody apart."""


def limit_starts(app: Flask, rate: str) -> None:
    """Let each address start `rate` ("20 per minute") runs; one more raises TooManyRequests with `retry_after`."""
    Limiter(
        sender,
        app=app,
        application_limits=[rate],
        application_limits_exempt_when=lambda: request.endpoint not in STARTING or request.method != "POST",
        application_limits_deduct_when=_started,
        on_breach=_turn_away,
        storage_uri="memory://",
        strategy="moving-window",
    )


def sender() -> str:
    """Who a request is from, as far as counting goes: an IPv4 address, or the network of an IPv6 one."""
    raw = request.remote_addr or ""
    try:
        address = ip_address(raw)
    except ValueError:  # a Unix socket has no address
        return raw or "unknown"
    if not isinstance(address, IPv6Address):
        return raw
    return str(address.ipv4_mapped or ip_network((address.packed, IPV6_BITS), strict=False))


def _turn_away(limit: RequestLimit) -> NoReturn:
    """Say when the oldest of the counted starts will be forgotten."""
    raise TooManyRequests(retry_after=max(1, math.ceil(limit.reset_at - time.time())))


def _started(response: Response) -> bool:
    """Whether a run was started: only that leads to another page, or makes something."""
    return response.status_code in (201, 303)
