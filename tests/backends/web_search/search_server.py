"""A scripted search provider over real HTTP on this machine: it records requests and sends scripted replies.

    with SearchServer([Reply(brave_reply(SAID))]) as server:
        search(Brave(KEY, server.url)).search("Who wrote Hamlet?", 10)
        assert server.asked[0].params == {"q": "Who wrote Hamlet?", ...}

Replies are sent in turn, the last one repeatedly. `brave_reply` and the like write each provider's format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.loopback import QuietHandler, ScriptedServer

KEY = "planted-Key-5312"


@dataclass(frozen=True)
class Asked:
    """One received request; header names are in lower case, `params` come from the URL or the form."""

    method: str
    path: str
    headers: Mapping[str, str]
    params: Mapping[str, str]
    body: Any = None


@dataclass(frozen=True)
class Reply:
    """What the server sends: `body` as JSON, or as it is when it is bytes.

    `delay`: seconds before anything is sent; `drip`: seconds between any two bytes of the body.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: float = 0.0


class SearchServer(ScriptedServer):
    """The server, running inside the `with` block. `asked` holds every request in order."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        super().__init__(replies, _handler(self))

    @property
    def url(self) -> str:
        """The URL to which searches are sent."""
        return f"http://127.0.0.1:{self.port}/search"


def _handler(server: SearchServer) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer(dict(parse_qsl(urlsplit(self.path).query)), None)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if "json" in self.headers["Content-Type"]:
                self._answer({}, json.loads(sent))
            else:
                self._answer(dict(parse_qsl(sent)), None)

        def _answer(self, params: dict[str, str], body: Any) -> None:
            asked = Asked(self.command, urlsplit(self.path).path, self.lower_headers(), params, body)
            with suppress(ConnectionError):  # the client closed the connection
                reply = server.reply_to(asked)
                content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send(reply.status, content, {"Content-Type": "application/json", **reply.headers}, reply.drip)

    return Handler


@dataclass(frozen=True)
class Said:
    """One search result, independent of the provider's format."""

    title: str
    url: str
    snippet: str
    date: str | None = None


def _rows(said: Sequence[Said], url: str, snippet: str, date: str) -> list[dict[str, str]]:
    """Return the results under a provider's names for their fields; a result without a date has no field for it."""
    return [
        {"title": each.title, url: each.url, snippet: each.snippet, **({date: each.date} if each.date else {})}
        for each in said
    ]


def searxng_reply(*said: Said, silent: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """GET or POST /search?format=json (docs.searxng.org); `silent` are [engine, reason] pairs."""
    rows = _rows(said, "url", "content", "publishedDate")
    return {"query": "q", "number_of_results": 0, "results": rows, "unresponsive_engines": list(silent)}


def brave_reply(*said: Said) -> dict[str, Any]:
    """GET /res/v1/web/search; `web` is left out where nothing was found."""
    rows = _rows(said, "url", "description", "age")
    return {"type": "search", **({"web": {"type": "search", "results": rows}} if rows else {})}


def tavily_reply(*said: Said) -> dict[str, Any]:
    """POST /search."""
    return {"query": "q", "answer": None, "results": _rows(said, "url", "content", "published_date")}


def serper_reply(*said: Said) -> dict[str, Any]:
    """POST /search at google.serper.dev."""
    return {"searchParameters": {"q": "q", "type": "search"}, "organic": _rows(said, "link", "snippet", "date")}
