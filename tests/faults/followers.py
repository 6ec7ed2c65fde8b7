"""Who follows a run without a browser, as an EventSource does: broken off, it comes again and says what it saw last."""

from __future__ import annotations

import threading
import time
from http.client import HTTPException, HTTPResponse
from typing import NamedTuple
from urllib.request import Request, urlopen

from tests.waiting import LONG


class Message(NamedTuple):
    """One message. `id` is the number of the last event that it tells of, None where it tells of none."""

    id: int | None
    kind: str
    data: str


class Follower(threading.Thread):
    """Follows the stream at `address` to its end; `told` is what it was told, `cuts` how often it was broken off."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._retry_seconds = 0.1
        self.told: list[Message] = []
        self.cuts = 0

    @property
    def ids(self) -> list[int]:
        """The numbers of the events that it was told of last, in the order in which they came."""
        return [each.id for each in self.told if each.id is not None]

    @property
    def ended(self) -> bool:
        """Whether it was told that there is no more."""
        return bool(self.told) and self.told[-1].kind == "end"

    def run(self) -> None:
        """Follow, and come again after every break as late as the server asked for."""
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
        """Keep a whole message; a comment is none, and a field that repeats is that of the data."""
        fields = [line.partition(": ")[::2] for line in block.splitlines()]
        named = dict(fields)
        if "retry" in named:
            self._retry_seconds = int(named["retry"]) / 1000
        if "data" in named:
            data = "\n".join(text for name, text in fields if name == "data")
            self.told.append(Message(int(named["id"]) if "id" in named else None, named.get("event", ""), data))
