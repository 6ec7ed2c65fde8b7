"""A response store for tests."""

from __future__ import annotations

import json
from typing import Any

from app.domain.instrumentation import Call


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
