"""Resolve host names to public addresses only, to prevent requests to internal services (SSRF).

A name may resolve to this machine, its network, or a cloud's metadata service. Every address of a name is checked, and
the caller connects to one of the checked addresses.
"""

from __future__ import annotations

import queue
import re
import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from app.domain.errors import CallFailed

Address = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
"""Function from a host name and a port to addresses. Raises OSError for an unknown name."""
AddressFilter = Callable[[Address], bool]

GLOBAL_UNICAST = ip_network("2000::/3")
"""All other IPv6 addresses are local (fec0::/10), multicast, or contain an IPv4 address (mapped, 64:ff9b::/96)."""

NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "192.0.0.0/24",  # protocol assignments; has a cloud provider's metadata service
            "192.88.99.0/24",  # relays into 6to4
            "168.63.129.16/32",  # Azure's platform, reachable from each of its machines
            "2001::/23",  # protocol assignments, among them tunnels, whose addresses contain an IPv4 address
            "2002::/16",  # 6to4, whose addresses contain an IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)
"""Networks that are not public although `is_global` accepts them, some of them in some versions of Python only."""

_NUMERIC = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)", re.DOTALL)
"""Hosts whose last part is a number, which some resolvers parse as an address: 2130706433, 0x7f.1, 0177.0.0.1."""


def is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    return address.is_global and not address.is_multicast and not any(address in each for each in NOT_PUBLIC)


def system_resolve(host: str, port: int) -> tuple[str, ...]:
    """Resolve a name with the system's resolver, best address first, without duplicates."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def checked_addresses(
    host: str, port: int, seconds: float, resolve: Resolver, allowed: AddressFilter
) -> tuple[str, ...]:
    """Return the addresses to connect to. Raises CallFailed if there is none or if any of them is not allowed.

    A single forbidden address rejects all: a mix of public and internal addresses indicates an attack.
    """
    literal = _literal_address(host)
    addresses = (literal,) if literal else _resolve_with_timeout(host, port, seconds, resolve)
    if not addresses:
        raise CallFailed(f"{host} cannot be found: it has no address.")
    if not all(_is_allowed(address, allowed) for address in addresses):
        raise CallFailed(f"{host} was not asked: its address is not on the public internet.")
    return addresses


def _literal_address(host: str) -> str | None:
    """Return a literal address in canonical form, None for a name. Other numeric spellings are refused."""
    try:
        return str(ip_address(host))
    except ValueError:
        if _NUMERIC.fullmatch(host) or ":" in host:
            raise CallFailed(
                f"{host} was not asked: it is neither a host name nor an IP address in its usual form."
            ) from None
        return None


def _resolve_with_timeout(host: str, port: int, seconds: float, resolve: Resolver) -> tuple[str, ...]:
    """Resolve in a thread that can be abandoned, since the system's resolver has no timeout."""
    answers: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

    def resolve_and_report() -> None:
        try:
            answers.put(resolve(host, port))
        except Exception as error:  # some names cannot be encoded at all (UnicodeError)
            answers.put(error)

    threading.Thread(target=resolve_and_report, name="name-lookup", daemon=True).start()
    try:
        answer = answers.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        raise CallFailed(f"{host} cannot be found: its address was not resolved in time.") from None
    if isinstance(answer, Exception):
        raise CallFailed(f"{host} cannot be found: no such host is known.") from answer
    return tuple(answer)


def _is_allowed(address: str, allowed: AddressFilter) -> bool:
    try:
        return allowed(ip_address(address))
    except ValueError:
        return False
