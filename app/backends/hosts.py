"""The host of a URL that an operator has set, as messages name it and as the page says who gets what people write."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def host_of(url: str) -> str:
    """A host name, with the port where it is in the address."""
    return urlsplit(url).netloc.rpartition("@")[2]


def destination_of(url: str) -> str | None:
    """The host name that gets what is sent to `url`; None when it is this machine."""
    name = urlsplit(url).hostname or ""
    return None if _is_loopback(name) else name


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
