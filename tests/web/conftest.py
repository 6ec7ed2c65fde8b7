"""An application with scripted runs, and helpers that use it like a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.config.settings import Settings
from tests.fakes import FakeContainer, Gate, Script, scripted_container
from tests.waiting import LONG, until


@pytest.fixture
def make_app(tmp_path, database_url, compiled) -> Iterator[Callable[..., Flask]]:
    """create_app over a fresh database and a given container; its runs are stopped when the test ends."""
    made: list[Flask] = []

    def make(container: FakeContainer | None = None, **settings) -> Flask:
        app = create_app(
            Settings(instance=tmp_path, database_url=database_url, **settings), container or scripted_container()
        )
        app.jinja_env.bytecode_cache = compiled
        made.append(app)
        return app

    yield make
    for app in made:
        app.extensions["hopcheck"].runs.stop()


@pytest.fixture
def client(make_app) -> FlaskClient:
    """A browser on an application where every run has two kept hops and is supported."""
    return make_app().test_client()


@pytest.fixture
def gated(make_app) -> Iterator[Callable[..., tuple[FlaskClient, Gate]]]:
    """Make a browser on a site whose runs wait before a step until the gate is opened, or the test ends."""
    gates: list[Gate] = []

    def make(step: str, *scripts: Script, **settings) -> tuple[FlaskClient, Gate]:
        gates.append(Gate(step))
        return make_app(scripted_container(*scripts, gate=gates[-1]), **settings).test_client(), gates[-1]

    yield make
    for gate in gates:
        gate.open()


def token(client: FlaskClient, path: str = "/") -> str:
    """The CSRF token of a page."""
    return re.search(r'name="csrf_token" value="([^"]+)"', client.get(path).text)[1]


def send(client: FlaskClient, claim: str = "Hamlet's author was born in England.", **fields):
    """Post the claim form."""
    return client.post("/runs", data={"csrf_token": token(client), "claim": claim, **fields})


def started(client: FlaskClient, claim: str = "Hamlet's author was born in England.", **fields) -> str:
    """Start a run, whatever hint its claim would get, and return the path of its page."""
    answer = send(client, claim, **{"as_is": "yes", **fields})
    assert answer.status_code == 303, answer.text
    return answer.location


def press(client: FlaskClient, path: str, button: str, headers: dict[str, str] | None = None, **fields):
    """Post as a button of a page does."""
    return client.post(f"{path}/{button}", data={"csrf_token": token(client), **fields}, headers=headers)


def wait_for(client: FlaskClient, path: str, text: str) -> str:
    """The page at `path` once it holds `text`."""
    return until(lambda: text in (page := client.get(path).text) and page, f"{text!r} on {path}")


def ended_run(client: FlaskClient, claim: str = "Hamlet's author was born in England.", **fields) -> str:
    """Start a run and return the path of its page once that shows its verdict."""
    path = started(client, claim, **fields)
    wait_for(client, path, 'id="verdict-heading"')
    return path


@pytest.fixture
def path(client) -> str:
    """The path of a run with a verdict."""
    return ended_run(client)


def finished(client: FlaskClient, claim: str = "Hamlet's author was born in England.", **fields) -> str:
    """The page of a run of `claim` after its end."""
    path = started(client, claim, **fields)
    runs = client.application.extensions["hopcheck"].runs
    list(runs.until_end(path.rpartition("/")[2], seconds=LONG))
    return wait_for(client, path, 'id="verdict-heading"')
