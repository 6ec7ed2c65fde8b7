"""Each refusal is one log line with the reason, without user input."""

from __future__ import annotations

import logging
import re

import pytest

from app.web.auth import new_token
from tests.web.conftest import ended_run, started, token
from tests.web.test_api import RUNS, with_tokens

SECRET = "zebra"


@pytest.fixture
def lines(caplog):
    """Return the refusals logged so far."""
    caplog.set_level(logging.DEBUG)
    yield lambda: [record.getMessage() for record in caplog.records if record.name == "app.web.audit"]
    assert SECRET not in caplog.text and "127.0.0.1" not in caplog.text


def reason(line: str) -> str:
    return re.fullmatch(r"refused \((\w+)\): [A-Z]+ [\w.]+ from [0-9a-f]{12}( (run|batch) [\w-]+)?", line)[1]


def test_a_form_with_a_forged_token_is_logged(client, lines):
    path = started(client)
    client.post("/runs", data={"claim": SECRET, "csrf_token": SECRET})
    client.post(f"{path}/stop", data={"csrf_token": SECRET})
    assert [reason(line) for line in lines()] == ["csrf", "csrf"]
    assert lines()[1].endswith(f" run {path.removeprefix('/runs/')}")


def test_access_to_the_run_of_another_visitor_is_logged_and_to_an_unknown_run_is_not(make_app, lines):
    app = make_app()
    path, other = started(app.test_client()), app.test_client()
    form = {"csrf_token": token(other)}
    for each in (path, "/runs/none"):
        assert other.post(f"{each}/stop", data=form).status_code == 404
        assert other.post(f"/api/v1{each}/stop", json={}).status_code == 404
    assert [reason(line) for line in lines()] == ["owner", "owner"]


@pytest.mark.parametrize("foreign", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
def test_a_stream_for_a_page_of_another_site_is_refused_and_logged(client, lines, foreign):
    path = ended_run(client)
    for address in (f"{path}/events", f"/api/v1{path}/events"):
        assert client.get(address, headers=foreign, buffered=True).status_code == 403, address
        same = {"Sec-Fetch-Site": "same-origin"} if "Origin" not in foreign else {"Origin": "http://localhost"}
        assert client.get(address, headers=same, buffered=True).status_code == 200, address
    assert [reason(line) for line in lines()] == ["origin"] * 2


def test_a_wrong_token_is_logged(make_app, tmp_path, lines):
    app, _ = with_tokens(make_app, tmp_path, "one", metrics_token="m" * 20)
    for shown in ({}, {"Authorization": f"Bearer {new_token()}"}, {"Authorization": f"Basic {SECRET}"}):
        assert app.test_client().post(RUNS, json={"claim": SECRET}, headers=shown).status_code == 401
    assert app.test_client().get("/metrics", headers={"Authorization": f"Bearer {SECRET}"}).status_code == 404
    assert [reason(line) for line in lines()] == ["token"] * 4


def test_a_request_for_a_name_that_is_not_allowed_is_logged(make_app, lines):
    client = make_app(allowed_hosts=("check.example.org",)).test_client()
    for path in "/", "/no/such/page", RUNS:
        assert client.get(path, headers={"Host": f"{SECRET}.example"}).status_code == 400
    assert [reason(line) for line in lines()] == ["host"] * 3


def test_each_visitor_has_a_stable_pseudonym_in_the_log(make_app, lines):
    app = make_app()
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2"):
        client = app.test_client()
        client.environ_base["REMOTE_ADDR"] = address
        client.post("/runs", data={"claim": SECRET})
    first, again, another = (re.search(r"from (\w+)", line)[1] for line in lines())
    assert first == again != another
