"""Log to standard error, one line per message: as text, or as JSON for log collectors.

Control characters in messages are escaped, so that logged paths or model output cannot forge lines.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

current_run: ContextVar[str | None] = ContextVar("current_run", default=None)
"""The id of the run that this thread carries out, or that the request is about."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that end a line, control a terminal or turn the direction of text."""


class OneLineFormatter(logging.Formatter):
    """Formats a message on one line; a traceback follows on lines of its own, which are indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = _CONTROL.sub(_escaped, record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        """Indent each line, because an error's message may quote text that looks like lines of the log."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  {_CONTROL.sub(_escaped, line)}" for line in lines)


class JsonFormatter(logging.Formatter):
    """Formats a message as a JSON object on one line: time, level, logger, message, and `run` if there is one.

    An exception adds `error`, its type, and `traceback`. Its own message is left out: it may quote what people wrote.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _CONTROL.sub(_escaped, record.getMessage()),
        }
        if run := getattr(record, "run", None) or current_run.get():
            fields["run"] = run
        if record.exc_info and record.exc_info[0]:
            kind, _, where = record.exc_info
            fields["error"] = kind.__name__
            fields["traceback"] = "".join(traceback.format_tb(where))
        return json.dumps(fields, ensure_ascii=False)


def formatter(kind: str) -> logging.Formatter:
    """Return the formatter for LOG_FORMAT, "text" or "json"."""
    return JsonFormatter() if kind == "json" else OneLineFormatter(FORMAT)


def configure_logging(level: str, kind: str = "text") -> None:
    """Log to standard error from `level` up. A second call only changes the level."""
    root = logging.getLogger()
    root.setLevel(level)
    if not any(isinstance(handler.formatter, OneLineFormatter | JsonFormatter) for handler in root.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(formatter(kind))
        root.addHandler(handler)
    logging.getLogger("flask-limiter").setLevel(logging.WARNING)  # it would log client addresses


def _escaped(character: re.Match[str]) -> str:
    return ascii(character[0])[1:-1]
