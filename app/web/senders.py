"""Who a request is from: its address, as far as counting goes, and the token that it shows."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

from flask import request

IPV6_BITS = 64
"""A household gets at least so much of an IPv6 address for itself, so the rest tells nobody apart."""


def sender() -> str:
    """An IPv4 address, or the network of an IPv6 one. Of proxies only those that PROXIES trusts have a say in it."""
    raw = request.remote_addr or ""
    try:
        address = ip_address(raw)
    except ValueError:  # a Unix socket has no address
        return raw or "unknown"
    if not isinstance(address, IPv6Address):
        return raw
    return str(address.ipv4_mapped or ip_network((address.packed, IPV6_BITS), strict=False))


def bearer() -> str:
    """The token that the request shows in its header Authorization, "" when there is none."""
    try:
        given = request.authorization
    except ValueError:  # Werkzeug stumbles over a name and password that are not ASCII
        return ""
    return given.token or "" if given and given.type == "bearer" else ""
