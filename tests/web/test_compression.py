"""Responses are compressed where the browser supports it; event streams never are."""

from __future__ import annotations

import gzip
import re

import brotli
import pytest

from tests.web.conftest import started

UNPACK = {"br": brotli.decompress, "gzip": gzip.decompress}


def files(client) -> list[str]:
    """The addresses of the site's own files that the home page names."""
    return sorted(set(re.findall(r'"(/static/[^"]+)"', client.get("/").text)))


@pytest.mark.parametrize(
    ("accepted", "way"), [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("gzip, br;q=0", "gzip")]
)
def test_pages_json_and_files_are_packed_as_the_browser_likes_it(client, accepted, way):
    for address in ("/", "/api", "/api/v1/openapi.json", *(each for each in files(client) if "icon" not in each)):
        plain = client.get(address)
        packed = client.get(address, headers={"Accept-Encoding": accepted})
        assert packed.headers["Content-Encoding"] == way, address
        assert "Accept-Encoding" in packed.headers["Vary"]
        assert len(packed.data) < 0.6 * len(plain.data)
        assert "Content-Encoding" not in plain.headers
        if "csrf_token" not in plain.text:
            assert UNPACK[way](packed.data) == plain.data


def test_a_stream_of_events_is_never_packed(client):
    """Every byte of it would wait in the packer until there are enough of them."""
    run = started(client)
    for address in (f"{run}/events", f"/api/v1{run}/events"):
        answer = client.get(address, headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
        assert answer.mimetype == "text/event-stream" and "Content-Encoding" not in answer.headers
        assert b"event: " in answer.data
