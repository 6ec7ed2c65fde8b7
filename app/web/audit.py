"""One line in the log for each refusal: what was wrong, which route it was, and from whom.

What people wrote stays out, and so does the address: `from` is a digest of it made with the signing key, the same for
the same address, so that many refusals of one visitor can be told from one refusal of many.
"""

from __future__ import annotations

import hmac
import logging
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal
from urllib.parse import quote

from flask import Response, current_app, g, request

log = logging.getLogger(__name__)

Reason = Literal["csrf", "owner", "limit", "password", "token", "origin", "size", "type", "full"]

BY_STATUS: dict[int, Reason] = {413: "size", 415: "type", 429: "full"}
"""Refusals that are told by the answer, whoever gave it, unless another reason was written already."""

IPV6_BITS = 64
"""A household usually gets a whole /64 network, so the other bits do not identify a client."""


def refused(reason: Reason) -> None:
    """Write that the current request is refused."""
    g.refused = True
    named = request.view_args or {}
    about = "".join(f" {kind} {quote(named[f'{kind}_id'])[:64]}" for kind in ("run", "batch") if f"{kind}_id" in named)
    log.warning("refused (%s): %s %s from %s%s", reason, request.method, request.endpoint, _pseudonym(), about)


def tell_by_status(response: Response) -> Response:
    """Write that the request was refused where its answer is all that says so."""
    if (reason := BY_STATUS.get(response.status_code)) and not g.get("refused"):
        refused(reason)
    return response


def client_address() -> str:
    """Return the client's IPv4 address, or its /64 network for IPv6. Only proxies that PROXIES trusts can change it."""
    raw = request.remote_addr or ""
    try:
        address = ip_address(raw)
    except ValueError:  # a Unix socket has no address
        return raw or "unknown"
    if not isinstance(address, IPv6Address):
        return raw
    return str(address.ipv4_mapped or ip_network((address.packed, IPV6_BITS), strict=False))


def _pseudonym() -> str:
    key = str(current_app.secret_key).encode()
    return hmac.digest(key, client_address().encode(), "sha256").hex()[:12]
