"""Browsers cache static files, and load changed ones."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from flask import Flask, url_for

from app.web.http_delivery import cache_static_files

STATIC = Path(__file__).resolve().parents[2] / "static"


def test_static_files_named_by_a_page_exist_and_are_cached_for_a_year(client):
    files = set(re.findall(r'"(/static/[^"]+)"', client.get("/").text))
    assert len(files) == 7
    for file in files:
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
