"""Which addresses pages may be fetched from, and how a host's name becomes addresses of that kind.

A search can find, and a page can redirect to, any name at all; behind it may be this machine, the network around it,
or the metadata service of a cloud, which gives away credentials. So what counts is the address that will be connected
to, whatever the name looked like: every address of a name is looked at, and the caller connects to one of these.
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
Resolve = Callable[[str, int], Sequence[str]]
"""A name and a port to addresses; OSError when there are none."""
Allowed = Callable[[Address], bool]

GLOBAL_UNICAST = ip_network("2000::/3")
"""All other IPv6 is local, multicast, or IPv4 in disguise: mapped, compatible, 64:ff9b::/96, fec0::/10."""

NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "192.0.0.0/24",  # protocol assignments; the metadata of one cloud is here
            "192.88.99.0/24",  # relays into 6to4
            "168.63.129.16/32",  # the platform behind every machine of Azure's
            "2001::/23",  # protocol assignments: tunnels that hold an IPv4 address, among others
            "2002::/16",  # 6to4, which holds an IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)
"""What Python's `is_global` lets through (some of it in some versions only)."""

_NUMERIC = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)", re.DOTALL)
"""How the last part of a host looks when some resolvers take the whole for a number: 2130706433, 0x7f.1, 0177.0.0.1."""


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could reach this address, so that reaching it gives away nothing."""
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    return address.is_global and not address.is_multicast and not any(address in each for each in NOT_PUBLIC)


def system_resolve(host: str, port: int) -> tuple[str, ...]:
    """The addresses that this machine knows for a name, the best first, each once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def checked_addresses(host: str, port: int, seconds: float, resolve: Resolve, allowed: Allowed) -> tuple[str, ...]:
    """The addresses to connect to. Raises CallFailed if there is none, or if any of them is not allowed.

    One forbidden address among good ones is how a name is bent to lead inside, so it forbids them all.
    """
    literal = _literal(host)
    found = (literal,) if literal else _looked_up(host, port, seconds, resolve)
    if not found:
        raise CallFailed(f"{host} cannot be found: it has no address.")
    if not all(_is_allowed(address, allowed) for address in found):
        raise CallFailed(f"{host} was not asked: its address is not on the public internet.")
    return found


def _literal(host: str) -> str | None:
    """The address that the host is, in its own spelling; None for a name. Other spellings of numbers are refused."""
    try:
        return str(ip_address(host))
    except ValueError:
        if _NUMERIC.fullmatch(host) or ":" in host:
            raise CallFailed(
                f"{host} was not asked: it is neither a name nor an address as they are written."
            ) from None
        return None


def _looked_up(host: str, port: int, seconds: float, resolve: Resolve) -> tuple[str, ...]:
    """The resolver's answer. It knows no time limit, so it works in a thread that can be left behind."""
    answers: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put(resolve(host, port))
        except Exception as error:  # a name may be one that cannot be written at all (UnicodeError)
            answers.put(error)

    threading.Thread(target=work, name="name-lookup", daemon=True).start()
    try:
        answer = answers.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        raise CallFailed(f"{host} cannot be found: nobody knew its address in time.") from None
    if isinstance(answer, Exception):
        raise CallFailed(f"{host} cannot be found: no such host is known.") from answer
    return tuple(answer)


def _is_allowed(address: str, allowed: Allowed) -> bool:
    try:
        return allowed(ip_address(address))
    except ValueError:
        return False
