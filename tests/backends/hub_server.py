"""A server on loopback that answers like the Hugging Face hub for one data set and one repository of models."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import suppress

from pytest import MonkeyPatch

from tests.loopback import LoopbackServer, QuietHandler

REVISION = "b" * 40
REPOSITORY, MODELS = "wikimedia/wikipedia", "owner/repository"


class HubServer(LoopbackServer):
    """Serves `files` (name to content). With `cut`, a download ends after half of its bytes, and the next ones fail.
    After `hold()` a download waits after half of its bytes for `release()`.

    `tag` replaces the SHA-256 of a file. `ranges` has the first byte that each download asked for, `asked` the path of
    every request.
    """

    def __init__(self, files: dict[str, bytes], licence: str | list[str] = "cc-by-sa-3.0") -> None:
        self.files, self.licence = files, licence
        self.cut = False
        self._released = threading.Event()
        self._released.set()
        self.tag = ""
        self.ranges: list[int] = []
        self.asked: list[str] = []
        super().__init__(_handler(self))
        self.address = f"http://127.0.0.1:{self.port}"

    def hold(self) -> None:
        self._released.clear()

    def release(self) -> None:
        self._released.set()

    def listing(self) -> bytes:
        siblings = [{"rfilename": name, "size": len(content)} for name, content in self.files.items()]
        about = {"_id": "1", "id": REPOSITORY, "sha": REVISION, "siblings": siblings, "private": False, "tags": []}
        return json.dumps({**about, "cardData": {"license": self.licence}, "downloads": 0, "likes": 0}).encode()


def point_to(monkeypatch: MonkeyPatch, address: str) -> None:
    """Let huggingface_hub ask this address in this process."""
    from huggingface_hub import constants

    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", address)


def _handler(hub: HubServer) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, body: bool) -> None:
            hub.asked.append(self.path)
            path = self.path.partition("?")[0]
            if path == f"/api/models/{MODELS}":
                listed = [{"rfilename": name, "size": len(content)} for name, content in hub.files.items()]
                about = {"id": MODELS, "siblings": listed, "tags": ["license:mit"]}
                return self._send(200, json.dumps(about).encode(), body, {"Content-Type": "application/json"})
            if path.startswith(f"/api/datasets/{REPOSITORY}"):
                return self._send(200, hub.listing(), body, {"Content-Type": "application/json"})
            name = (path.partition(f"/resolve/{REVISION}/") or path)[2] or path.partition("/resolve/main/")[2]
            if name not in hub.files:
                return self._send(404, b"", body, {"X-Error-Code": "EntryNotFound"})
            content = hub.files[name]
            about = {"ETag": f'"{hub.tag or hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": REVISION}
            if not body:
                return self._send(200, content, body, about)
            begin = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
            hub.ranges.append(begin)
            if hub.cut and len(hub.ranges) > 1:
                return self._send(403, b"", body, {})
            about["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
            self._send(206 if begin else 200, content[begin:], body, about, cut=hub.cut)

        def _send(self, status: int, content: bytes, body: bool, about: dict[str, str], cut: bool = False) -> None:
            self.send_response(status)
            for name, value in about.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            half = len(content) // 2
            with suppress(OSError):  # the client closed the connection
                if body:
                    self.wfile.write(content[:half])
                    if "ETag" in about:
                        hub._released.wait()
                if body and not cut:
                    self.wfile.write(content[half:])
            self.close_connection = cut

    return Handler
