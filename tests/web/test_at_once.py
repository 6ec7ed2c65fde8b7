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
from tests.web.conftest import send, token

MANY = 24
"""Who come at once."""


class Slow(FakeContainer):
    """Takes its time over each start, so that all who come at once are under way together."""

    def modules(self, options: RunOptions) -> tuple[tuple[str, str], ...]:
        time.sleep(0.3)
        return super().modules(options)


@pytest.fixture(params=["memory", "Redis"])
def served(request, make_app) -> Iterator[Callable[..., Sequence[Flask]]]:
    """The web processes of a site: one that counts by itself, or two that count in one Redis."""
    if request.param == "memory":
        yield lambda **settings: [make_app(Slow(), **settings)]
        return
    with running() as redis:
        yield lambda **settings: [make_app(Slow(), redis_url=redis.url, **settings) for _ in range(2)]


def browsers(apps: Sequence[Flask]) -> list[FlaskClient]:
    """MANY browsers at one address, spread over the processes."""
    return [apps[number % len(apps)].test_client() for number in range(MANY)]


def statuses(sendings: Sequence[Callable[[], int]]) -> Counter[int]:
    """What those who send at the same moment are answered, and how many of them."""
    ready = threading.Barrier(len(sendings))

    def sent(sending: Callable[[], int]) -> int:
        ready.wait(LONG)
        return sending()

    with ThreadPoolExecutor(len(sendings)) as pool:
        return Counter(pool.map(sent, sendings))


def starting(client: FlaskClient, claim: str = "Hamlet's author was born in England.") -> Callable[[], int]:
    """To send the claim form, which this browser has opened already."""
    form = {"csrf_token": token(client), "claim": claim}
    return lambda: client.post("/runs", data=form).status_code


def test_after_many_started_at_the_same_moment_the_limit_is_full(served):
    apps = served(rate_limit="3 per hour", max_waiting=100)
    assert statuses([starting(each) for each in browsers(apps)])[303] >= 3
    assert {send(app.test_client()).status_code for app in apps} == {429}


def test_what_is_refused_at_the_same_moment_costs_nothing_afterwards(served):
    apps = served(rate_limit="2 per hour")
    refused = statuses([starting(each, "") for each in browsers(apps)])
    assert set(refused) <= {422, 429} and refused[422] >= 2
    assert [send(apps[-1].test_client()).status_code for _ in range(3)] == [303, 303, 429]


def guessing(client: FlaskClient) -> Callable[[], int]:
    """To send a wrong password in the form, which this browser has opened already."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/password").text)
    form = {"csrf_token": found[1], "password": "not the password"}
    return lambda: client.post("/password", data=form).status_code


def test_no_more_passwords_are_guessed_at_the_same_moment_than_may_be(served):
    apps = served(site_password="correct horse")
    assert statuses([guessing(each) for each in browsers(apps)]) == {422: 10, 429: MANY - 10}
