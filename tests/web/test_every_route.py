"""Rules for every route: the API offers what the pages offer, security headers, unguessable ids."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, TestResponse

from app.config.settings import Settings, settings_fields
from app.runs.admission import new_id
from app.web.api.blueprint import API
from app.web.security import HEADERS
from tests.web.test_api import CLAIM, RUNS, ended, problem, start

GUESSES = 1_000

NO_API_ROUTE = "it only shows what the API returns elsewhere, or redirects there"

EQUIVALENTS = {
    "GET /": (f"GET {API}/choices", f"GET {API}/runs"),
    "GET /parts": ("GET /readyz",),
    "GET /how-it-works": NO_API_ROUTE,
    "GET /opensearch.xml": NO_API_ROUTE,
    "GET /choices": (f"GET {API}/choices",),
    "GET /api": (f"GET {API}/openapi.json",),
    "GET /export.schema.json": (f"GET {API}/openapi.json",),
    "POST /runs": (f"POST {API}/runs",),
    "GET /runs/<run_id>": (f"GET {API}/runs/<run_id>", f"GET {API}/runs/<run_id>/branches"),
    "GET /runs/<run_id>/events": (f"GET {API}/runs/<run_id>/events",),
    "POST /runs/<run_id>/stop": (f"POST {API}/runs/<run_id>/stop",),
    "POST /runs/<run_id>/conclude": (f"POST {API}/runs/<run_id>/conclude",),
    "GET /runs/<run_id>/branch": NO_API_ROUTE,
    "POST /runs/<run_id>/branch": (f"POST {API}/runs/<run_id>/branch",),
    "GET /runs/<run_id>/export.json": (f"GET {API}/runs/<run_id>",),
    "GET /runs/<run_id>/export.html": NO_API_ROUTE,
    "GET /runs/<run_id>/export.md": (f"GET {API}/runs/<run_id>/export.md",),
    "GET /runs/<run_id>/claimreview.json": (f"GET {API}/runs/<run_id>/claimreview.json",),
    "GET /runs/<run_id>/export.ris": (f"GET {API}/runs/<run_id>/export.ris",),
    "GET /runs/<run_id>/export.bib": (f"GET {API}/runs/<run_id>/export.bib",),
    "GET /runs/<run_id>/card.png": NO_API_ROUTE,
    "GET /runs/<run_id>/embed": NO_API_ROUTE,
    "GET /batches": (f"GET {API}/batches",),
    "POST /batches": (f"POST {API}/batches",),
    "GET /batches/<batch_id>": (f"GET {API}/batches/<batch_id>", f"GET {API}/batches/<batch_id>/results"),
    "POST /batches/<batch_id>/pause": (f"POST {API}/batches/<batch_id>/pause",),
    "POST /batches/<batch_id>/resume": (f"POST {API}/batches/<batch_id>/resume",),
    "GET /batches/<batch_id>/cancel": NO_API_ROUTE,
    "POST /batches/<batch_id>/cancel": (f"POST {API}/batches/<batch_id>/cancel",),
    "POST /batches/<batch_id>/retry": (f"POST {API}/batches/<batch_id>/retry",),
    "POST /batches/<batch_id>/recheck": (f"GET {API}/batches/<batch_id>/results", f"POST {API}/batches"),
    "GET /batches/<batch_id>/delete": NO_API_ROUTE,
    "POST /batches/<batch_id>/delete": (f"DELETE {API}/batches/<batch_id>",),
    "POST /batches/<batch_id>/restore": (f"POST {API}/batches/<batch_id>/restore", f"GET {API}/deleted/batches"),
    "GET /batches/<batch_id>/results.csv": (f"GET {API}/batches/<batch_id>/results",),
    "GET /batches/<batch_id>/results.jsonl": (f"GET {API}/batches/<batch_id>/results",),
    "GET /import": NO_API_ROUTE,
    "POST /import": (f"POST {API}/import",),
    "GET /compare": (f"GET {API}/compare",),
    "GET /compare/events": (f"GET {API}/runs/<run_id>/events",),
    "POST /runs/<run_id>/notes": (
        f"GET {API}/runs/<run_id>/notes",
        f"PUT {API}/runs/<run_id>/notes/<hop>",
        f"DELETE {API}/runs/<run_id>/notes/<hop>",
    ),
    "GET /history": (f"GET {API}/runs", f"GET {API}/deleted"),
    "GET /runs/<run_id>/delete": NO_API_ROUTE,
    "POST /runs/<run_id>/delete": (f"DELETE {API}/runs/<run_id>",),
    "POST /runs/<run_id>/restore": (f"POST {API}/runs/<run_id>/restore",),
    "GET /gallery": (f"GET {API}/gallery",),
    "POST /runs/<run_id>/publish": (f"POST {API}/runs/<run_id>/publish",),
    "POST /runs/<run_id>/unpublish": (f"POST {API}/runs/<run_id>/unpublish",),
}
"""For each page route, the API routes that do the same."""

FOR_MACHINES = ("GET /static/<path:filename>", "GET /favicon.ico", "GET /healthz", "GET /readyz", "GET /metrics")
"""Routes that belong neither to the pages nor to the API."""

PASSWORD_ROUTES = ("GET /password", "POST /password")
"""The password form for people; a program sends a token instead."""


# The page "Set up" has no equivalent either: its commands are those of the command line.

WITHOUT_PUBLIC_CONTENT = {"GET /metrics", "GET /password", "GET /runs/<run_id>/embed"}
"""Routes without public content: they need a token, a password, or a setting that changes their headers."""


def routes_of(app) -> set[str]:
    return {
        f"{method} {rule.rule}" for rule in app.url_map.iter_rules() for method in rule.methods - {"HEAD", "OPTIONS"}
    }


def test_every_page_route_has_an_api_equivalent(make_app):
    routes = routes_of(make_app())
    pages = {route for route in routes if API not in route and "/setup" not in route}
    pages -= {*FOR_MACHINES, *PASSWORD_ROUTES}
    assert pages == set(EQUIVALENTS), "add the API routes that do the same to EQUIVALENTS"
    named = {each for same in EQUIVALENTS.values() if same != NO_API_ROUTE for each in same}
    assert named <= routes
    assert not [route for route, same in EQUIVALENTS.items() if same == NO_API_ROUTE and not route.startswith("GET ")]


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
    names = [each.name for each in settings_fields() if each.metadata["env"] in SECRETS] + ["keys"]
    assert len(names) == len(SECRETS)
    app = make_app(publishing=True, **{name: getattr(given, name) for name in names})
    app.add_url_rule("/broken", view_func=lambda: str(1 / 0))
    for method, rule, answer in every_answer(app.test_client()):
        assert b"planted-" not in str(answer.headers).encode() + answer.get_data(), (method, rule)
    assert "ZeroDivisionError" in caplog.text and "planted-" not in caplog.text


def test_a_thousand_guessed_ids_find_no_run_or_batch(make_app, caplog):
    """Calls the WSGI application directly, because the test client takes longer than the request itself."""
    app = make_app()
    client, found, tried = app.test_client(), [], set()
    client.post(f"{API}/batches", json={"claims": [CLAIM, "The sea is wet."]})
    start(client)
    environ = EnvironBuilder("/").get_environ()
    caplog.set_level(logging.ERROR)
    for number in range(GUESSES):
        path = f"{API}/{('runs', 'batches')[number % 2]}/{new_id()}"
        answer = app({**environ, "PATH_INFO": path}, lambda status, headers, trace=None: found.append(status[:3]))
        answer.close()
        tried.add(path)
    assert len(tried) == GUESSES == found.count("404")


def test_ids_have_128_bits_and_similar_ids_find_nothing(client):
    run_id = ended(client, start(client))["id"]
    assert len(run_id) == 22, "128 bits in base 64"
    near = {run_id[:at] + other + run_id[at + 1 :] for at in range(22) for other in "Aa0-_%"}
    near |= {run_id[:-1], f"{run_id}A", run_id.swapcase(), run_id.upper(), "%", "_" * 22}
    for guess in near - {run_id}:
        problem(client.get(f"{RUNS}/{guess}"), 404)
