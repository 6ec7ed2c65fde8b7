"""Rules for every route: the API offers what the pages offer, security headers, unguessable ids."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.config.settings import Settings, settings_fields
from app.web.api.blueprint import API
from app.web.security import HEADERS
from tests.web.test_api import CLAIM, RUNS, ended, problem, start

# The page "Set up" has no equivalent either: its commands are those of the command line.

WITHOUT_PUBLIC_CONTENT = {"GET /metrics", "GET /password", "GET /runs/<run_id>/embed"}
"""Routes without public content: they need a token, a password, or a setting that changes their headers."""


def routes_of(app) -> set[str]:
    return {
        f"{method} {rule.rule}" for rule in app.url_map.iter_rules() for method in rule.methods - {"HEAD", "OPTIONS"}
    }


def every_answer(client: FlaskClient) -> Iterator[tuple[str, str, TestResponse]]:
    """Call every route by every method, with the ids of a run and a batch; yield method, rule and answer."""
    run_id, another = (ended(client, start(client))["id"] for _ in range(2))
    batch_id = client.post(f"{API}/batches", json={"claims": [CLAIM]}).json["id"]
    query = {"run": [run_id, another], "hop": 2}
    for method in ("GET", "POST", "PUT", "DELETE"):
        for rule in client.application.url_map.iter_rules():
            path = rule.rule.replace("<run_id>", run_id).replace("<batch_id>", batch_id)
            path = path.replace("<hop>", "1").replace("<path:filename>", "style.css")
            values = query if method == "GET" else None
            yield method, rule.rule, client.open(path, method=method, query_string=values, buffered=True)


def test_every_response_has_the_security_headers_and_only_pages_and_pictures_may_be_stored(make_app):
    app, shown = make_app(publishing=True, metrics_token="m" * 16), set()
    for method, rule, answer in every_answer(app.test_client()):
        assert answer.status_code < 500, (method, rule)
        missing = {name for name, value in HEADERS.items() if answer.headers.get(name) != value}
        assert not missing, (method, rule, missing)
        if answer.mimetype not in ("text/html", "image/png") and not rule.startswith(("/static/", "/favicon")):
            assert answer.headers["Cache-Control"] == "no-store", (method, rule)
        shown |= {f"{method} {rule}"} if answer.status_code == 200 else set()
    assert {route for route in routes_of(app) if route.startswith("GET ")} - shown == WITHOUT_PUBLIC_CONTENT


SECRETS = {
    "SECRET_KEY": "planted-signing-key",
    "METRICS_TOKEN": "planted-metrics-token",
    "OPENAI_API_KEY": "planted-openai-key",
    "BRAVE_API_KEY": "planted-brave-key",
    "TAVILY_API_KEY": "planted-tavily-key",
    "SERPER_API_KEY": "planted-serper-key",
    "OTHER_API_KEY": "planted-other-key",
}


def test_no_response_and_no_line_of_the_log_has_a_secret_of_the_settings(make_app, caplog):
    caplog.set_level(logging.DEBUG)
    given = Settings.from_env(SECRETS)
    names = [each.name for name, each in settings_fields().items() if name in SECRETS] + ["keys"]
    assert len(names) == len(SECRETS)
    app = make_app(publishing=True, **{name: getattr(given, name) for name in names})
    app.add_url_rule("/broken", view_func=lambda: str(1 / 0))
    for method, rule, answer in every_answer(app.test_client()):
        assert b"planted-" not in str(answer.headers).encode() + answer.get_data(), (method, rule)
    assert "ZeroDivisionError" in caplog.text and "planted-" not in caplog.text


def test_ids_have_128_bits_and_similar_ids_find_nothing(client):
    run_id = ended(client, start(client))["id"]
    assert len(run_id) == 22, "128 bits in base 64"
    near = {run_id[:at] + other + run_id[at + 1 :] for at in range(22) for other in "Aa0-_%"}
    near |= {run_id[:-1], f"{run_id}A", run_id.swapcase(), run_id.upper(), "%", "_" * 22}
    for guess in near - {run_id}:
        problem(client.get(f"{RUNS}/{guess}"), 404)
