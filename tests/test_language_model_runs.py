"""Whole runs over a language model's server, through the application: what is said, kept, counted and never shown."""

from __future__ import annotations

import json
import logging
import time

import pytest

from app import create_app
from app.extensions import db
from app.settings import Settings
from tests.openai_server import OpenAIServer, Reply, error, play

KEY = "planted-key-4711"
CLAIM = "The author of Hamlet was born in England."


@pytest.fixture
def site(tmp_path):
    """Makes an application whose language model is behind `server`; its runs are stopped afterwards."""
    made = []

    def make(server: OpenAIServer, **settings: str):
        env = {
            "INSTANCE": str(tmp_path),
            "OPENAI_BASE_URL": server.url,
            "OPENAI_MODEL": "scripted",
            "OPENAI_API_KEY": KEY,
            "READ_WITH": "model",
            "CALL_SECONDS": "2",
        }
        app = create_app(Settings.from_env(env | settings))
        app.config["WTF_CSRF_ENABLED"] = False
        with app.app_context():
            db.create_all()
        made.append(app)
        return app

    yield make
    for app in made:
        app.extensions["hopcheck"].runs.stop()


def checked(app, **fields: str) -> str:
    """Check the claim over the page, wait for the end, and return the run's page."""
    sent = {"claim": CLAIM, "preset": "prompted", "answerer": "reciter-reader", "model": "scripted"}
    answer = app.test_client().post("/runs", data=sent | fields)
    assert answer.status_code == 303, answer.text
    run_id = answer.location.rsplit("/", 1)[-1]
    runs = app.extensions["hopcheck"].runs
    deadline = time.monotonic() + 60
    while not runs.report(run_id).report.ended:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return app.test_client().get(answer.location).text


def test_a_run_over_a_language_model_is_a_page_with_recited_evidence_called_so(site):
    with OpenAIServer(play()) as server:
        page = checked(site(server))
    assert "Who wrote Hamlet?" in page and "Supported" in page
    assert "From the model’s memory, not a source" in page


def test_the_same_again_costs_nothing_and_is_shown_as_cached_unless_it_is_asked_anew(site):
    with OpenAIServer(play()) as server:
        app = site(server)
        checked(app)
        first = len(server.asked)
        page = checked(app)
        assert len(server.asked) == first
        assert f"{first} cached" in page
        checked(app, fresh="on")
        assert len(server.asked) == 2 * first


FAILURES = {
    "wrong key": [error(401, f"Incorrect API key provided: {KEY}")],
    "unknown model": [error(404, "The model does not exist", code="model_not_found")],
    "rate limit": [error(429, "Slow down")],
    "rate limit with a time": [error(429, "Slow down", headers={"Retry-After": "30"})],
    "server error": [error(500, f"Traceback: {KEY}")],
    "hung socket": [Reply("Yes", delay=30)],
    "cut reply": [Reply("Who wrote Hamlet?", cut=True)],
    "invalid JSON": [Reply(body=b"<html>not JSON")],
    "no choices": [Reply(body={"choices": []})],
    "content filter": [Reply("", finish="content_filter")],
    "context overflow": [error(400, "maximum context length is 8 tokens", code="context_length_exceeded")],
}


@pytest.mark.parametrize("replies", FAILURES.values(), ids=FAILURES.keys())
def test_every_failure_of_the_server_is_a_failed_hop_on_the_page_and_the_run_ends(site, caplog, replies):
    with OpenAIServer(replies) as server, caplog.at_level(logging.INFO):
        page = checked(site(server))
    assert "Failed" in page and "The question generator failed: " in page
    assert "hop 1 failed in the question generator" in caplog.text
    assert "Traceback" not in page


def test_what_was_done_stays_when_the_server_fails_in_the_middle(site):
    script = play()
    with OpenAIServer(lambda asked: script(asked) if len(server.asked) < 6 else error(500, "gone")) as server:
        page = checked(site(server))
    assert "Who wrote Hamlet?" in page and "William Shakespeare" in page
    assert "failed" in page


def test_the_key_is_in_no_page_log_event_export_cache_or_error(site, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    script = play()
    with OpenAIServer(lambda asked: script(asked) if len(server.asked) < 8 else error(401, f"bad key {KEY}")) as server:
        app = site(server)
        page = checked(app, fresh="on") + checked(app)
        told = app.test_cli_runner().invoke(args=["check", CLAIM, "--preset", "prompted", "--json"])
        listed = app.test_cli_runner().invoke(args=["models", "list"])
    assert f"Bearer {KEY}" in server.asked[0].headers["authorization"]
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    everywhere = (page, told.output, told.stderr, listed.output, caplog.text, repr(app.extensions["hopcheck"].settings))
    assert [text for text in everywhere if KEY in text] == []
    assert KEY.encode() not in stored


def test_a_cap_on_calls_concludes_with_what_is_there_and_says_so(site):
    with OpenAIServer(play()) as server:
        page = checked(site(server, RUN_CALLS="4"))
    assert "Who wrote Hamlet?" in page
    assert "The limit of 4 model calls for one check was reached." in page
    assert "Where was William Shakespeare born?" not in page


def test_the_export_says_what_was_recited(site):
    with OpenAIServer(play()) as server:
        app = site(server)
        told = app.test_cli_runner().invoke(
            args=["check", CLAIM, "--preset", "prompted", "--answerer", "reciter-reader", "--json"]
        )
    run = json.loads(told.stdout)
    assert "not a source" in json.dumps(run["hops"], ensure_ascii=False)
