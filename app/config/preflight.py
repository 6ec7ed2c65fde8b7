"""Check the settings before a server starts, so that a problem is one line instead of a traceback."""

from __future__ import annotations

import errno
import os
import socket

from app.config.settings import Settings
from app.domain.errors import SettingsError

_INHERITED_SOCKET = ("GUNICORN_PID", "LISTEN_FDS")
"""Environment variables of a socket that is open already: from gunicorn during an upgrade, and from systemd."""


def startup_problem(settings: Settings) -> str | None:
    """Return the first problem that prevents a start, with its fix, or None."""
    try:
        settings.signing_key()
    except SettingsError as error:
        return f"{error}."
    if any(name in os.environ for name in _INHERITED_SOCKET):
        return None
    return port_problem(settings.host, settings.port)


def port_problem(host: str, port: int) -> str | None:
    """Return why no server can listen on this address, or None."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        return f"HOST={host} is no address. Set HOST to one of this machine, such as 127.0.0.1."
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            probe.bind(address)
        except OSError as error:
            return _bind_problem(error, host, port)
    return None


def _bind_problem(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is taken. Stop what listens there, or choose another: make run PORT={port + 1}"
    if error.errno == errno.EACCES:
        return f"Port {port} may not be used by this user. Choose one from 1024 up: make run PORT=8000"
    return f"HOST={host} is no address of this machine. Set HOST to one that is, such as 127.0.0.1."
