"""Logging to standard error, one line per message.

Control characters in messages are escaped, so that logged paths or model output cannot forge lines.
"""

from __future__ import annotations

import logging
import re

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that end a line or control a terminal."""


class OneLineFormatter(logging.Formatter):
    """Formats a message on one line; a traceback follows on its own lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = _CONTROL.sub(_escaped, record.message)
        return super().formatMessage(record)


def configure_logging(level: str) -> None:
    """Log to standard error from `level` up. A second call only changes the level."""
    root = logging.getLogger()
    root.setLevel(level)
    if not any(isinstance(handler.formatter, OneLineFormatter) for handler in root.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(OneLineFormatter(FORMAT))
        root.addHandler(handler)
    logging.getLogger("flask-limiter").setLevel(logging.WARNING)  # it would log client addresses


def _escaped(character: re.Match[str]) -> str:
    return ascii(character[0])[1:-1]
