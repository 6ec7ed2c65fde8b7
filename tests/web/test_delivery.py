"""Static files are cached, and responses compressed where the browser supports it, except event streams."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import brotli
import pytest
from flask import Flask, url_for

from app.web.http_delivery import cache_static_files
from tests.web.conftest import started

STATIC = Path(__file__).resolve().parents[2] / "static"
DECOMPRESS = {"br": brotli.decompress, "gzip": gzip.decompress}


def files(client) -> list[str]:
    """Return the addresses of the static files that the home page names."""
    return sorted(set(re.findall(r'"(/static/[^"]+)"', client.get("/").text)))


def test_static_files_named_by_a_page_exist_and_are_cached_for_a_year(client):
    assert len(files(client)) == 7
    for file in files(client):
        answer = client.get(file)
        assert answer.status_code == 200 and "v=" in file
        assert "max-age=31536000" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/favicon.ico", "/static/style.css"])
def test_a_file_under_an_address_without_a_version_is_cached_for_an_hour(client, path):
    assert client.get(path).cache_control.max_age == 3600


@pytest.fixture
def address(tmp_path):
    """Write a static file with this text and modification time, and return its address."""
    app = Flask(__name__, static_folder=str(tmp_path))
    cache_static_files(app)

    def write(text: str, at: int) -> str:
        (tmp_path / "style.css").write_text(text)
        os.utime(tmp_path / "style.css", (at, at))
        with app.test_request_context():
            return url_for("static", filename="style.css")

    return write


def test_the_address_of_a_file_changes_only_with_its_content(address):
    first = address("a", 1)
    assert address("a", 2) == first != address("b", 3)


def test_style_sheets_and_scripts_load_no_further_files():
    """The page itself names every file, so a browser can fetch them all in one round trip."""
    for pattern, loading in (("*.css", r"@import|url\("), ("*.js", r"\bimport\b|importScripts")):
        for file in STATIC.glob(pattern):
            assert not re.search(loading, file.read_text("utf-8")), file


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
