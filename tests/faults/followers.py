"""Follow a run's event stream as a browser's EventSource does: reconnect after a break with Last-Event-ID."""

from __future__ import annotations

import threading
import time
from http.client import HTTPException, HTTPResponse
from typing import NamedTuple
from urllib.request import Request, urlopen

from tests.waiting import LONG


class Message(NamedTuple):
    """One message. `id` is the number of its last event, or None if it has no event."""

    id: int | None
    kind: str
    data: str


class Follower(threading.Thread):
    """Follows the stream at `address` to its end; `told` holds the received messages, `cuts` counts the breaks."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._retry_seconds = 0.1
        self.told: list[Message] = []
        self.cuts = 0

    @property
    def ids(self) -> list[int]:
        """The ids of the received messages, in order."""
        return [each.id for each in self.told if each.id is not None]

    @property
    def ended(self) -> bool:
        """Whether the final message was received."""
        return bool(self.told) and self.told[-1].kind == "end"

    def run(self) -> None:
        """Follow, and reconnect after each break with the delay that the server asked for."""
        while not self.ended:
            seen = {"Last-Event-ID": str(self.ids[-1])} if self.ids else {}
            try:
                with urlopen(Request(self._address, headers=seen), timeout=LONG) as stream:
                    self._read(stream)
            except (OSError, HTTPException):
                self.cuts += 1
                time.sleep(self._retry_seconds)

    def _read(self, stream: HTTPResponse) -> None:
        rest = b""
        while chunk := stream.read1():
            *blocks, rest = (rest + chunk).split(b"\n\n")
            for block in blocks:
                self._take(block.decode())

    def _take(self, block: str) -> None:
        """Store a message: skip comments, and join the lines of its data."""
        fields = [line.partition(": ")[::2] for line in block.splitlines()]
        named = dict(fields)
        if "retry" in named:
            self._retry_seconds = int(named["retry"]) / 1000
        if "data" in named:
            data = "\n".join(text for name, text in fields if name == "data")
            self.told.append(Message(int(named["id"]) if "id" in named else None, named.get("event", ""), data))
