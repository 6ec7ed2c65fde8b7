"""One log line per request and one per refusal, without user input."""

from __future__ import annotations

import io
import json
import logging
import re
from dataclasses import replace

import pytest

from app.logging import JsonFormatter
from app.web.auth import new_token
from tests.fakes import TWO_HOPS, scripted_container
from tests.web.conftest import ended_run, started, token, wait_for
from tests.web.test_api import RUNS, with_tokens


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


SECRET = "zebra"


@pytest.fixture
def refusals(caplog):
    """Return the refusals logged so far."""
    caplog.set_level(logging.DEBUG)
    yield lambda: [record.getMessage() for record in caplog.records if record.name == "app.web.audit"]
    assert SECRET not in caplog.text and "127.0.0.1" not in caplog.text


def reason(line: str) -> str:
    return re.fullmatch(r"refused \((\w+)\): [A-Z]+ [\w.]+ from [0-9a-f]{12}( (run|batch) [\w-]+)?", line)[1]


def test_a_form_with_a_forged_token_is_logged(client, refusals):
    path = started(client)
    client.post("/runs", data={"claim": SECRET, "csrf_token": SECRET})
    client.post(f"{path}/stop", data={"csrf_token": SECRET})
    assert [reason(line) for line in refusals()] == ["csrf", "csrf"]
    assert refusals()[1].endswith(f" run {path.removeprefix('/runs/')}")


def test_access_to_the_run_of_another_visitor_is_logged_and_to_an_unknown_run_is_not(make_app, refusals):
    app = make_app()
    path, other = started(app.test_client()), app.test_client()
    form = {"csrf_token": token(other)}
    for each in (path, "/runs/none"):
        assert other.post(f"{each}/stop", data=form).status_code == 404
        assert other.post(f"/api/v1{each}/stop", json={}).status_code == 404
    assert [reason(line) for line in refusals()] == ["owner", "owner"]


@pytest.mark.parametrize("foreign", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
def test_a_stream_for_a_page_of_another_site_is_refused_and_logged(client, refusals, foreign):
    path = ended_run(client)
    for address in (f"{path}/events", f"/api/v1{path}/events"):
        assert client.get(address, headers=foreign, buffered=True).status_code == 403, address
        same = {"Sec-Fetch-Site": "same-origin"} if "Origin" not in foreign else {"Origin": "http://localhost"}
        assert client.get(address, headers=same, buffered=True).status_code == 200, address
    assert [reason(line) for line in refusals()] == ["origin"] * 2


def test_a_wrong_token_is_logged(make_app, tmp_path, refusals):
    app, _ = with_tokens(make_app, tmp_path, "one", metrics_token="m" * 20)
    for shown in ({}, {"Authorization": f"Bearer {new_token()}"}, {"Authorization": f"Basic {SECRET}"}):
        assert app.test_client().post(RUNS, json={"claim": SECRET}, headers=shown).status_code == 401
    assert app.test_client().get("/metrics", headers={"Authorization": f"Bearer {SECRET}"}).status_code == 404
    assert [reason(line) for line in refusals()] == ["token"] * 4


def test_a_request_for_a_name_that_is_not_allowed_is_logged(make_app, refusals):
    client = make_app(allowed_hosts=("check.example.org",)).test_client()
    for path in "/", "/no/such/page", RUNS:
        assert client.get(path, headers={"Host": f"{SECRET}.example"}).status_code == 400
    assert [reason(line) for line in refusals()] == ["host"] * 3


def test_each_visitor_has_a_stable_pseudonym_in_the_log(make_app, refusals):
    app = make_app()
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2"):
        client = app.test_client()
        client.environ_base["REMOTE_ADDR"] = address
        client.post("/runs", data={"claim": SECRET})
    first, again, another = (re.search(r"from (\w+)", line)[1] for line in refusals())
    assert first == again != another
