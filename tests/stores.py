"""A response store for tests, and what a call leaves in it and anywhere else."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from typing import Any

from pytest import LogCaptureFixture

from app.domain.errors import CallFailed
from app.domain.instrumentation import Call, listening, use_stores


class JsonStore:
    """Stores replies as JSON, like a database does. `calls` are the calls with stored replies."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.replies: dict[str, str] = {}

    def get(self, call: Call) -> Any | None:
        """Return the stored reply, or None."""
        return json.loads(self.replies[call.key]) if call.key in self.replies else None

    def put(self, call: Call, reply: Any) -> None:
        """Store a reply."""
        self.calls.append(call)
        self.replies[call.key] = json.dumps(reply, allow_nan=False)


def left_by(call: Callable[[], object], connect: Callable[[], object], caplog: LogCaptureFixture) -> str:
    """Make a call that may fail, with all logs on; return all that it logs, raises, reports and stores."""
    caplog.set_level(logging.DEBUG)
    store, collected = JsonStore(), []
    connect()  # this sets the levels of the HTTP client's loggers
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    with use_stores(store), listening(collected.append):
        try:
            call()
        except CallFailed as failure:
            collected += [str(failure), repr(failure), "".join(traceback.format_exception(failure))]
            logging.getLogger("app").exception("it failed")
    assert "it failed" in caplog.text or store.replies
    kept = json.dumps([[call.model, dict(call.request)] for call in store.calls]) + json.dumps(store.replies)
    return caplog.text + kept + repr(collected)
