"""A client over a limit, also with simultaneous requests, gets 429 with its claim kept and the time to wait."""

from __future__ import annotations

import io
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.domain.model import RunOptions
from app.web import home
from app.web.observability import client_address
from tests.fakes import FakeContainer, scripted_container
from tests.redis_server import running
from tests.waiting import LONG, until
from tests.web.conftest import send, token
from tests.web.hostile import Page
from tests.web.test_api import CLAIM, RUNS, with_tokens

NO_REDIS = "redis://127.0.0.1:1/0"


def test_a_full_queue_refuses_a_run_and_keeps_its_claim(gated):
    client, gate = gated("answer 1", workers=1, max_waiting=1)
    assert send(client).status_code == 303 and gate.reached.wait(LONG)
    assert send(client).status_code == 303
    answer = send(client, "A third claim.", max_hops="7")
    assert answer.status_code == 429
    assert "A third claim.</textarea>" in answer.text and 'value="7"' in answer.text
    expected = "Too many checks wait for their turn already. Please try again in about 30 seconds."
    assert expected in answer.text and answer.headers["Retry-After"] == "30"
    assert "A third claim." not in client.get("/").text, "nothing was started"


def from_address(app: Flask, address: str):
    """A browser at this address."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = address
    return client


def test_an_address_over_its_rate_limit_is_refused_and_its_claim_is_kept(make_app):
    container = scripted_container()
    client = make_app(container, rate_limit="2 per minute").test_client()
    assert [send(client).status_code for _ in range(2)] == [303, 303]
    answer = send(client, "A third claim.", labels="two")
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 61
    assert "A third claim.</textarea>" in answer.text and 'value="two" checked' in answer.text
    assert "Please try again in about" in answer.text and 'action="/runs"' in answer.text


def test_what_was_pasted_into_another_form_can_be_sent_again_after_a_refusal(make_app):
    client = make_app(rate_limit="1 per hour").test_client()
    send(client)
    form = {"csrf_token": token(client), "title": "Mine", "claims": 'The moon is "big".\nThe sun is small.'}
    answer = client.post("/batches", data=form)
    page = Page(answer.text)
    again = next(each for tag, each in page.elements if tag == "form" and each.get("action") == "/batches")
    fields = {each["name"]: each["value"] for _, each in page.elements if each.get("type") == "hidden"}
    assert answer.status_code == 429 and again["method"] == "post" and "Your claim" not in page.text
    assert fields.pop("csrf_token") and fields == {name: form[name] for name in ("title", "claims")}


MANY_NAMES = "Ab Cd. " * 30_000
"""A text of short names, over the limit of a text: finding its sentences would take seconds."""


@pytest.mark.parametrize(
    ("path", "body", "refused"),
    [
        ("/runs", {"data": {"claim": MANY_NAMES}}, 422),
        ("/runs", {"data": {"claim": "A claim.", "max_hops": "many"}}, 422),
        ("/batches", {"data": {"claims": "?\n?"}}, 422),
        ("/import", {"data": {"file": (io.BytesIO(b"no report"), "report.json")}}, 422),
        (RUNS, {"json": {"claim": MANY_NAMES}}, 422),
        (RUNS, {"data": "no JSON"}, 415),
        ("/api/v1/import", {"json": {}}, 422),
    ],
)
def test_a_refused_request_counts_against_the_limit(make_app, path, body, refused):
    client = make_app(rate_limit="1 per hour").test_client()
    if "data" in body and not path.startswith("/api/"):
        body = {"data": {"csrf_token": token(client), **body["data"]}}
    assert [client.post(path, **body).status_code, send(client).status_code] == [refused, 429]


def test_a_form_without_its_token_and_a_refusal_by_the_limit_do_not_count(make_app):
    client = make_app(rate_limit="1 per 3 seconds, 2 per hour").test_client()
    form = {"csrf_token": token(client), "claim": CLAIM}
    assert client.post("/runs", data={"claim": CLAIM}).status_code == 400
    assert [client.post("/runs", data=form).status_code for _ in range(3)] == [303, 429, 429]
    until(lambda: client.post("/runs", data=form).status_code == 303, "the second start of the hour")


def test_a_text_above_the_limit_is_refused_before_its_sentences_are_looked_for(make_app, monkeypatch):
    monkeypatch.setattr(home, "kind_of", lambda text: pytest.fail("looked at"))
    monkeypatch.setattr(home, "candidates", lambda text, **_: pytest.fail("looked at"))
    answer = send(make_app().test_client(), MANY_NAMES)
    assert answer.status_code == 422 and "at most 20,000 are allowed" in answer.text


def test_a_program_is_counted_by_its_token_at_any_address(make_app, tmp_path):
    app, one, two = with_tokens(make_app, tmp_path, "one", "two", rate_limit="1 per hour")
    sent = [(one, "192.0.2.1"), (one, "192.0.2.2"), (two, "192.0.2.1")]
    answers = [from_address(app, address).post(RUNS, json={"claim": CLAIM}, headers=token) for token, address in sent]
    assert [answer.status_code for answer in answers] == [201, 429, 201]
    assert answers[1].json["retry_after"] == int(answers[1].headers["Retry-After"]) > 3000


def test_without_its_redis_a_site_still_starts_runs_and_limits_them(make_app, caplog):
    client = make_app(rate_limit="2 per minute", redis_url=NO_REDIS).test_client()
    assert [send(client).status_code for _ in range(3)] == [303, 303, 429]
    expected = [record.message for record in caplog.records if record.name == "flask-limiter"]
    assert expected == ["Rate limit storage unreachable - falling back to in-memory storage"]


def test_counting_in_redis_resumes_when_it_is_back(make_app):
    with running() as redis:
        client = make_app(rate_limit="9999 per hour", max_waiting=9999, redis_url=redis.url).test_client()
        redis.stop()
        assert send(client).status_code == 303
        redis.start()
        until(lambda: send(client).status_code == 303 and redis.client.keys("LIMITS*"), "a count in Redis")


def test_behind_a_proxy_the_visitors_address_counts(make_app):
    client = make_app(rate_limit="1 per hour", proxies=1).test_client()
    form = {"csrf_token": token(client), "claim": "A claim that came by a proxy."}

    def post(address: str) -> int:
        return client.post("/runs", data=form, headers={"X-Forwarded-For": address}).status_code

    assert [post("192.0.2.1"), post("192.0.2.1"), post("192.0.2.2")] == [303, 429, 303]
    assert post("192.0.2.9, 192.0.2.1") == 429, "an address that the visitor adds is ignored"


def test_without_a_proxy_the_forwarded_address_is_ignored(make_app):
    client = make_app(rate_limit="1 per hour").test_client()
    form = {"csrf_token": token(client), "claim": "A claim from somewhere else."}
    answers = [client.post("/runs", data=form, headers={"X-Forwarded-For": f"192.0.2.{n}"}) for n in (1, 2)]
    assert [answer.status_code for answer in answers] == [303, 429]


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("unix:", "unix:"),
    ],
)
def test_an_ipv6_visitor_is_counted_by_network(make_app, address, counted):
    with make_app().test_request_context(environ_base={"REMOTE_ADDR": address}):
        assert client_address() == counted


CLIENTS = 24
"""Number of simultaneous clients."""


class Slow(FakeContainer):
    """Delays each start, so that simultaneous requests overlap."""

    def modules(self, options: RunOptions) -> tuple[tuple[str, str], ...]:
        time.sleep(0.3)
        return super().modules(options)


@pytest.fixture(params=["memory", "Redis"])
def served(request, make_app) -> Iterator[Callable[..., Sequence[Flask]]]:
    """The web processes of a site: one that counts in memory, or two that share their counts in Redis."""
    if request.param == "memory":
        yield lambda **settings: [make_app(Slow(), **settings)]
        return
    with running() as redis:
        yield lambda **settings: [make_app(Slow(), redis_url=redis.url, **settings) for _ in range(2)]


def browsers(apps: Sequence[Flask]) -> list[FlaskClient]:
    """Return CLIENTS browsers at one address, spread over the processes."""
    return [apps[number % len(apps)].test_client() for number in range(CLIENTS)]


def statuses(requests: Sequence[Callable[[], int]]) -> Counter[int]:
    """Send all requests at the same moment and count the status codes."""
    ready = threading.Barrier(len(requests))

    def send_one(request: Callable[[], int]) -> int:
        ready.wait(LONG)
        return request()

    with ThreadPoolExecutor(len(requests)) as pool:
        return Counter(pool.map(send_one, requests))


def start_request(client: FlaskClient, claim: str = "Hamlet's author was born in England.") -> Callable[[], int]:
    """Open the claim form and return a function that sends it."""
    form = {"csrf_token": token(client), "claim": claim}
    return lambda: client.post("/runs", data=form).status_code


@pytest.mark.parametrize(("claim", "answered"), [("Hamlet's author was born in England.", 303), ("", 422)])
def test_simultaneous_starts_do_not_exceed_the_rate_limit_whether_they_are_refused_or_not(served, claim, answered):
    apps = served(rate_limit="3 per hour", max_waiting=100)
    assert statuses([start_request(each, claim) for each in browsers(apps)]) == {answered: 3, 429: CLIENTS - 3}


def guess_request(client: FlaskClient) -> Callable[[], int]:
    """Open the password form and return a function that sends a wrong password."""
    form = {"csrf_token": token(client, "/password"), "password": "not the password"}
    return lambda: client.post("/password", data=form).status_code


def test_simultaneous_password_guesses_do_not_exceed_the_limit(served):
    apps = served(site_password="correct horse")
    assert statuses([guess_request(each) for each in browsers(apps)]) == {422: 10, 429: CLIENTS - 10}
