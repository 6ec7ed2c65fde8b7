"""Why a server cannot start, found before anything is started, so that it is one line and not a trace."""

from __future__ import annotations

import errno
import os
import socket

from app.config.settings import Settings
from app.domain.errors import SettingsError

_HANDED_OVER = ("GUNICORN_PID", "LISTEN_FDS")
"""Set where the socket is open already: by a server that is replaced by its successor, and by systemd."""


def startup_problem(settings: Settings) -> str | None:
    """The first reason not to start, a sentence with what mends it; None when there is none."""
    try:
        settings.signing_key()
    except SettingsError as error:
        return f"{error}."
    if any(name in os.environ for name in _HANDED_OVER):
        return None
    return port_problem(settings.host, settings.port)


def port_problem(host: str, port: int) -> str | None:
    """Why no server can listen there, as a sentence; None when one can. The port is free again when this returns."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        return f"HOST={host} is no address. Set HOST to one of this machine, such as 127.0.0.1."
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a port just left counts as free
        try:
            probe.bind(address)
        except OSError as error:
            return _why_not(error, host, port)
    return None


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is taken. Stop what listens there, or choose another: make run PORT={port + 1}"
    if error.errno == errno.EACCES:
        return f"Port {port} may not be used by this user. Choose one from 1024 up: make run PORT=8000"
    return f"HOST={host} is no address of this machine. Set HOST to one that is, such as 127.0.0.1."
