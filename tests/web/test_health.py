"""Liveness and readiness checks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app import create_app
from app.config.settings import Settings
from tests.fakes import Component, scripted_container
from tests.web.conftest import finished


def test_a_living_process_says_so_without_database_or_models(client, tmp_path):
    (tmp_path / "hopcheck.sqlite3").unlink()
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_machines_get_no_cookie_and_nothing_is_cached(client, path):
    headers = client.get(path).headers
    assert "Set-Cookie" not in headers and headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_machines_may_ask_as_often_as_they_like(make_app, path):
    client = make_app(rate_limit="1 per hour").test_client()
    assert {client.get(path).status_code for _ in range(5)} == {200}


def test_ready_means_that_every_part_is_named_and_ready(client):
    answer = client.get("/readyz")
    assert answer.status_code == 200 and answer.json["ready"] is True
    assert {part["name"]: part["state"] for part in answer.json["parts"]} == {
        "database": "ready",
        "corpus index": "ready",
        "judge": "ready",
    }


def test_what_is_not_ready_says_how_it_stands_and_what_mends_it(make_app):
    parts = (Component("judge", "failed", "The weights are damaged.", "make models"), Component("reader", "loading"))
    answer = make_app(scripted_container(loaded=parts)).test_client().get("/readyz")
    assert answer.status_code == 503 and answer.json["ready"] is False
    _, judge, reader = answer.json["parts"]
    assert judge == {"name": "judge", "state": "failed", "message": "The weights are damaged.", "mend": "make models"}
    assert reader == {"name": "reader", "state": "loading"}


def test_a_database_without_tables_is_not_ready_and_says_what_mends_it(make_app, database_url):
    Path(database_url.removeprefix("sqlite:///")).write_bytes(b"")
    answer = make_app().test_client().get("/readyz")
    (database, *_) = answer.json["parts"]
    assert answer.status_code == 503 and database["state"] == "failed"
    assert "flask --app app db upgrade" in database["message"]


def test_a_database_that_can_be_read_and_not_written_is_not_ready(tmp_path, database_url):
    path = database_url.removeprefix("sqlite:///")
    app = create_app(
        Settings(instance=tmp_path, database_url=f"sqlite:///file:{path}?mode=ro&uri=true"), scripted_container()
    )
    client = app.test_client()
    (database, *_) = client.get("/readyz").json["parts"]
    assert client.get("/").status_code == 200
    assert database["state"] == "failed" and "The database is read-only" in database["message"]


def test_asking_whether_all_is_ready_writes_nothing(client, database_url):
    finished(client)
    path = database_url.removeprefix("sqlite:///")

    def content() -> list[str]:
        with closing(sqlite3.connect(path)) as database:
            return list(database.iterdump())

    before = content()
    assert client.get("/readyz").status_code == 200 and content() == before
