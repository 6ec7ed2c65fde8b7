"""SITE_PASSWORD protects the whole site, and guesses are limited."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from app.web.access import OPEN_ENDPOINTS
from app.web.api.blueprint import API
from app.web.auth import new_token, token_line
from tests.web.conftest import finished, token

PASSWORD = "correct horse"
ASKS = "This site asks for a password"


@pytest.fixture
def app(make_app):
    return make_app(site_password=PASSWORD)


def enter(client: FlaskClient, password: str = PASSWORD, wanted: str = "/", **headers):
    """Type the password into the form."""
    form = {"csrf_token": token(client, "/password"), "password": password, "wanted": wanted}
    return client.post("/password", data=form, headers=headers)


@pytest.fixture
def run_path(app) -> str:
    """The path of a run that was started with the password."""
    client = app.test_client()
    enter(client)
    return re.search(r"/runs/[\w-]+", finished(client))[0]


def test_every_route_requires_the_password_and_reveals_nothing(app, run_path):
    stranger, run_id = app.test_client(), run_path.removeprefix("/runs/")
    tried = 0
    for rule in app.url_map.iter_rules():
        if rule.endpoint in OPEN_ENDPOINTS:
            continue
        path = rule.rule.replace("<run_id>", run_id)
        for method in rule.methods:
            answer = stranger.open(path, method=method, query_string={"run": run_id})
            assert answer.status_code == (401 if path.startswith(f"{API}/") else 403), (method, path)
            assert "Hamlet" not in answer.text and "<textarea" not in answer.text, (method, path)
            tried += 1
    assert tried > 60


@pytest.mark.parametrize("path", ["/healthz", "/static/style.css", "/favicon.ico", "/password"])
def test_liveness_static_files_and_the_password_form_are_open(app, path):
    assert app.test_client().get(path).status_code == 200


def test_the_password_leads_to_the_requested_page(app, run_path):
    client = app.test_client()
    asked = client.get(f"{run_path}?x=1")
    assert asked.status_code == 403 and f'name="wanted" value="{run_path}?x=1"' in asked.text
    answer = enter(client, wanted=f"{run_path}?x=1")
    assert (answer.status_code, answer.location) == (303, f"{run_path}?x=1")
    assert "Hamlet" in client.get(run_path).text
    assert "event: end" in client.get(f"{run_path}/events").text
    assert client.get(f"{API}{run_path}").status_code == 200


ELSEWHERE = (
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/a\r\nLocation: //evil.example",
    "",
)


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_the_form_redirects_to_no_other_site(app, wanted):
    answer = enter(app.test_client(), wanted=wanted)
    assert (answer.status_code, answer.location) == (303, "/")


@pytest.mark.parametrize(
    "password",
    [
        "",
        "Correct horse",
        "\0",
        "x" * 100_000,
    ],
)
def test_a_wrong_password_gives_no_access(app, password):
    client = app.test_client()
    answer = enter(client, password)
    assert answer.status_code == 422 and "That is not the password." in answer.text
    assert client.get("/").status_code == 403


def test_wrong_passwords_are_limited_by_address(app):
    guesser = app.test_client()
    assert {enter(guesser, f"guess {n}").status_code for n in range(10)} == {422}
    held = enter(guesser, PASSWORD)
    assert held.status_code == 429 and int(held.headers["Retry-After"]) > 0
    assert "Too many wrong passwords" in held.text and 'name="claim"' not in held.text
    other = app.test_client()
    other.environ_base["REMOTE_ADDR"] = "192.0.2.7"
    assert enter(other).status_code == 303


@pytest.mark.parametrize("body", [b"password=%ff", b"csrf_token=forged&password=correct+horse"])
def test_an_invalid_form_shows_only_the_password_form(app, body):
    sent = {"data": body, "content_type": "application/x-www-form-urlencoded"}
    answer = app.test_client().post("/password", **sent)
    assert answer.status_code == 400 and ASKS in answer.text and 'name="claim"' not in answer.text


def test_changing_the_password_or_the_key_ends_all_sessions(make_app):
    client = make_app(site_password=PASSWORD, secret_key="k" * 32).test_client()
    enter(client)
    assert client.get("/").status_code == 200
    value = client.get_cookie("hopcheck").value
    assert PASSWORD not in value
    for changed in ({"site_password": "another one"}, {"secret_key": "j" * 32}):
        again = make_app(**{"site_password": PASSWORD, "secret_key": "k" * 32, **changed}).test_client()
        again.set_cookie("hopcheck", value)
        assert again.get("/").status_code == 403


def test_a_program_uses_a_token_instead_of_the_password(make_app, tmp_path):
    mine, file = new_token(), tmp_path / "tokens"
    file.write_text(token_line("one", mine))
    client = make_app(site_password=PASSWORD, api_tokens=file).test_client()
    bearer = {"Authorization": f"Bearer {mine}"}
    assert client.get(f"{API}/choices", headers=bearer).status_code == 200
    refusal = client.get(f"{API}/choices", headers={"Authorization": "Bearer hopcheck_forged"})
    assert refusal.status_code == 401 and refusal.mimetype == "application/problem+json"
    assert "Bearer" in refusal.headers["WWW-Authenticate"]
    assert client.get("/", headers=bearer).status_code == 403, "a token is for programs"
