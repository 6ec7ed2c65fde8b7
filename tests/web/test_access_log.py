"""One log line per request, without user input."""

from __future__ import annotations

import io
import json
import logging
from dataclasses import replace

import pytest

from app.logging import JsonFormatter
from tests.fakes import TWO_HOPS, scripted_container
from tests.web.conftest import ended_run, started, wait_for


@pytest.fixture
def lines(caplog):
    """Return the lines of the access log so far, at INFO."""
    caplog.set_level(logging.INFO, "app.web.access_log")

    def read() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.name == "app.web.access_log"]

    return read


def test_a_request_is_logged_as_one_line_with_method_path_status_and_milliseconds(client, lines):
    client.get("/how-it-works?secret=word")
    (line,) = lines()
    assert line.startswith("GET /how-it-works 200 ") and line.endswith(" ms") and "secret" not in line


def test_a_stream_is_logged_when_its_connection_closes(client, lines):
    path = ended_run(client)
    answer = client.get(f"{path}/events?after=1")
    assert not [line for line in lines() if "/events" in line]
    answer.close()
    (line,) = (line for line in lines() if "/events" in line)
    assert line.startswith(f"GET {path}/events 200 ")


@pytest.mark.parametrize("path", ["/a%0AINFO%20all%20is%20well", "/a%0D%0Ab", "/runs/x%1B%5B2J", "/%E2%80%A8x"])
def test_a_path_with_control_characters_is_logged_as_one_printable_line(client, lines, path):
    client.get(path)
    (line,) = lines()
    assert line.isprintable() and line.isascii()


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_checks_are_not_logged(client, lines, path):
    client.get(path)
    assert lines() == []


@pytest.mark.parametrize("fails", [False, True], ids=["a verdict", "an error that quotes the claim"])
def test_the_json_lines_of_a_run_have_its_id_and_no_text_of_people(make_app, fails):
    claim = "Zyzzyva was written by Quuxley."
    script = replace(TWO_HOPS, verdict=ValueError(f"cannot read {claim}")) if fails else TWO_HOPS
    stream, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(stream), root.level
    handler.setFormatter(JsonFormatter())
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        client = make_app(scripted_container(script)).test_client()
        path = started(client, claim)
        wait_for(client, path, "This check failed" if fails else "verdict-heading")
        client.get("/how-it-works")
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert "Zyzzyva" not in stream.getvalue() and "Quuxley" not in stream.getvalue()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    run = path.removeprefix("/runs/")
    assert all(line.get("run") == run for line in lines if run in line["message"])
    assert {"app.runs.runner", "app.web.access_log"} <= {line["logger"] for line in lines if line.get("run") == run}
    (other,) = (line for line in lines if "/how-it-works" in line["message"])
    assert "run" not in other
