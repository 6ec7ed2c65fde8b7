"""The log, set up in one place: one line for each thing that happened, on standard error.

A line is what it says it is: control characters in a message (a path, a model's words) are written as escapes, so that
nobody who sends them can forge a line or move the cursor of whoever reads the log.
"""

from __future__ import annotations

import logging
import re

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What ends a line or steers a terminal."""


class OneLineFormatter(logging.Formatter):
    """Writes a record's message on one line. A trace, which is ours, keeps its lines below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = _CONTROL.sub(_escaped, record.message)
        return super().formatMessage(record)


def configure_logging(level: str) -> None:
    """Write everything from `level` up to standard error. A second call changes the level and nothing else."""
    root = logging.getLogger()
    root.setLevel(level)
    if not any(isinstance(handler.formatter, OneLineFormatter) for handler in root.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(OneLineFormatter(FORMAT))
        root.addHandler(handler)
    logging.getLogger("flask-limiter").setLevel(logging.WARNING)  # it would write the address of who was turned away


def _escaped(character: re.Match[str]) -> str:
    return ascii(character[0])[1:-1]
