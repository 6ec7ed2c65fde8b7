"""Simultaneous requests do not exceed the limits on password guesses and runs."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.domain.model import RunOptions
from tests.fakes import FakeContainer
from tests.redis_server import running
from tests.waiting import LONG
from tests.web.conftest import token

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
    found = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/password").text)
    form = {"csrf_token": found[1], "password": "not the password"}
    return lambda: client.post("/password", data=form).status_code


def test_simultaneous_password_guesses_do_not_exceed_the_limit(served):
    apps = served(site_password="correct horse")
    assert statuses([guess_request(each) for each in browsers(apps)]) == {422: 10, 429: CLIENTS - 10}
