"""Responses are compressed where the browser supports it; event streams never are."""

from __future__ import annotations

import gzip
import re

import brotli
import pytest

from tests.web.conftest import started

DECOMPRESS = {"br": brotli.decompress, "gzip": gzip.decompress}


def files(client) -> list[str]:
    """Return the addresses of the static files that the home page names."""
    return sorted(set(re.findall(r'"(/static/[^"]+)"', client.get("/").text)))


@pytest.mark.parametrize(
    ("accepted", "encoding"), [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("gzip, br;q=0", "gzip")]
)
def test_pages_json_and_files_are_compressed_as_the_browser_accepts(client, accepted, encoding):
    for address in ("/", "/api", "/api/v1/openapi.json", *(each for each in files(client) if "icon" not in each)):
        plain = client.get(address)
        compressed = client.get(address, headers={"Accept-Encoding": accepted})
        assert compressed.headers["Content-Encoding"] == encoding, address
        assert "Accept-Encoding" in compressed.headers["Vary"]
        assert len(compressed.data) < 0.6 * len(plain.data)
        assert "Content-Encoding" not in plain.headers
        if "csrf_token" not in plain.text:
            assert DECOMPRESS[encoding](compressed.data) == plain.data


def test_an_event_stream_is_never_compressed(client):
    """The compressor would hold back events until it has enough bytes."""
    run = started(client)
    for address in (f"{run}/events", f"/api/v1{run}/events"):
        answer = client.get(address, headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
        assert answer.mimetype == "text/event-stream" and "Content-Encoding" not in answer.headers
        assert b"event: " in answer.data
