"""Whole runs over a language model's server, through the application: pages, storage, costs and secrets."""

from __future__ import annotations

import html
import logging
import re
from functools import partial

import pytest

from app.backends.http import MAX_ATTEMPTS, RetryPolicy
from app.backends.llm import openai_client
from app.domain.messages import Code
from app.domain.model import HopStatus
from tests import one_claim
from tests.openai_server import OpenAIServer, Reply, error, play
from tests.waiting import LONG, until

KEY = "planted-key-4711"
CLAIM = one_claim.CLAIM.text


@pytest.fixture
def site(real_app, monkeypatch):
    """Makes an application whose language model is behind `server`, which is asked again without a wait."""
    monkeypatch.setattr(openai_client, "RetryPolicy", partial(RetryPolicy, sleep=lambda seconds: None))

    def make(server: OpenAIServer, **settings: str):
        env = {
            "OPENAI_BASE_URL": server.url,
            "OPENAI_MODEL": "scripted",
            "OPENAI_API_KEY": KEY,
            "READ_WITH": "model",
            "CALL_SECONDS": "60",
        }
        app = real_app(**env | settings)
        app.config["WTF_CSRF_ENABLED"] = False
        return app

    return make


def checked(app, **fields: str) -> str:
    """Check the claim through the page, wait for the end, and return the run's page."""
    sent = {"claim": CLAIM, "preset": "prompted", "answerer": "reciter-reader", "model": "scripted"}
    answer = app.test_client().post("/runs", data=sent | fields)
    assert answer.status_code == 303, answer.text
    run_id = answer.location.rsplit("/", 1)[-1]
    runs = app.extensions["hopcheck"].runs
    until(lambda: runs.report(run_id).report.ended, "its end")
    return app.test_client().get(answer.location).text


def test_a_repeated_run_is_cached_and_free_unless_fresh_replies_are_requested(site):
    with OpenAIServer(play()) as server:
        app = site(server)
        checked(app)
        first = len(server.asked)
        page = checked(app)
        assert len(server.asked) == first
        assert f"{first} cached" in page
        checked(app, fresh="on")
        assert len(server.asked) == 2 * first


def test_replies_that_cannot_be_read_are_not_cached_and_no_request_is_repeated_in_a_run(site):
    with OpenAIServer([Reply("I would rather not.")]) as server:
        app = site(server)
        checked(app)
        first = len(server.asked)
        assert len({asked.prompt for asked in server.asked}) == first == 4  # two hops, in two wordings each
        checked(app)
        assert len(server.asked) == 2 * first
    assert "0 replies" in app.test_cli_runner().invoke(args=["cache", "show"]).stdout


PRICED = """
[[model]]
name = "scripted"
model = "scripted"
base_url = "{url}"
api_key_env = "OPENAI_API_KEY"
prompt_price = 100_000
completion_price = 100_000
"""

FAILURES = {
    "wrong key": (
        error(401, f"Incorrect API key provided: {KEY}"),
        "The server {host} does not accept the key for the language model scripted (401): look at OPENAI_API_KEY.",
    ),
    "hung socket": (
        Reply("Yes", delay=LONG),
        "The language model scripted at {host} did not answer within 2 seconds.",
    ),
}


@pytest.mark.parametrize(("reply", "sentence"), FAILURES.values(), ids=FAILURES.keys())
def test_each_server_failure_has_its_own_sentence_on_page_log_and_report(site, caplog, reply, sentence):
    with OpenAIServer([reply]) as server, caplog.at_level(logging.INFO):
        app = site(server, CALL_SECONDS="2" if reply.delay else "60")
        page = checked(app)
    (run_id,) = re.findall(r'href="/runs/([^"]+)" id="permalink"', page)
    message = sentence.format(host=server.url.split("/")[2])
    assert f"The question generator failed: {message}" in html.unescape(page)
    assert f"hop 1 failed in the question generator: {message}" in caplog.text
    report = app.extensions["hopcheck"].runs.report(run_id).report
    assert {(hop.status, str(hop.reason)) for hop in report.hops} == {
        (HopStatus.FAILED, f"The question generator failed: {message}")
    }
    assert report.ended == "failed"
    assert KEY not in page + caplog.text + repr(report)
    assert len(server.asked) <= 2 * MAX_ATTEMPTS


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


def test_a_reached_budget_concludes_with_the_present_evidence_and_says_so(site, tmp_path):
    with OpenAIServer(play()) as server:
        models = tmp_path / "models.toml"
        models.write_text(PRICED.format(url=server.url))
        page = html.unescape(checked(site(server, OPENAI_MODEL="", MODELS_FILE=str(models), RUN_COST="4.5")))
    assert "Who wrote Hamlet?" in page and "William Shakespeare" in page
    assert str(Code.RUN_COST(amount=4.5)) in page
    assert "Where was William Shakespeare born?" not in page
    assert "cost 6.0000" in page  # the four, and the conclusion
