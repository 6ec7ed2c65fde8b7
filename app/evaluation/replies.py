"""A memory of calls for as long as one row takes, as a run's journal is one for a run: nothing is computed twice."""

from __future__ import annotations

from typing import Any

from app.domain.calls import Call


class Replies:
    """Implements `Memory`."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def recall(self, call: Call) -> Any | None:
        """The reply that was kept, None without one."""
        return self._kept.get(call.key)

    def keep(self, call: Call, reply: Any) -> None:
        """Keep it until the row is done."""
        self._kept[call.key] = reply
