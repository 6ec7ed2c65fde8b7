"""Browsers cache static files, and load changed ones."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from flask import Flask, url_for

from app.web.http_delivery import cache_static_files

STATIC = Path(__file__).resolve().parents[2] / "static"


def test_a_page_names_files_that_are_there_and_may_be_kept(client):
    files = set(re.findall(r'"(/static/[^"]+)"', client.get("/").text))
    assert len(files) == 6
    for file in files:
        answer = client.get(file)
        assert answer.status_code == 200 and "v=" in file
        assert "max-age=31536000" in answer.headers["Cache-Control"]


@pytest.fixture
def address(tmp_path):
    """The address of a file that changes."""
    app = Flask(__name__, static_folder=str(tmp_path))
    cache_static_files(app)

    def write(text: str, at: int) -> str:
        (tmp_path / "style.css").write_text(text)
        os.utime(tmp_path / "style.css", (at, at))
        with app.test_request_context():
            return url_for("static", filename="style.css")

    return write


def test_an_address_changes_with_what_is_in_the_file_and_only_then(address):
    first = address("a", 1)
    assert address("a", 2) == first != address("b", 3)


def test_all_script_together_is_small():
    scripts = list(STATIC.rglob("*.js"))
    assert len(scripts) >= 4
    assert sum(len(script.read_bytes()) for script in scripts) < 70_000


def test_one_round_trip_brings_every_file():
    """The page itself names all it needs: no style sheet or script of ours brings in another file."""
    for pattern, brings_in in (("*.css", r"@import|url\("), ("*.js", r"\bimport\b|importScripts")):
        for file in STATIC.glob(pattern):
            assert not re.search(brings_in, file.read_text("utf-8")), file
