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


def test_the_liveness_check_needs_neither_database_nor_models(client, tmp_path):
    (tmp_path / "hopcheck.sqlite3").unlink()
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_checks_set_no_cookie_and_are_not_cached(client, path):
    headers = client.get(path).headers
    assert "Set-Cookie" not in headers and headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_checks_are_not_rate_limited(make_app, path):
    client = make_app(rate_limit="1 per hour").test_client()
    assert {client.get(path).status_code for _ in range(5)} == {200}


def test_a_ready_site_lists_every_component_as_ready(client):
    answer = client.get("/readyz")
    assert answer.status_code == 200 and answer.json["ready"] is True
    assert {part["name"]: part["state"] for part in answer.json["parts"]} == {
        "database": "ready",
        "corpus index": "ready",
        "judge": "ready",
    }


def test_a_component_that_is_not_ready_has_its_state_and_its_fix(make_app):
    parts = (Component("judge", "failed", "The weights are damaged.", "make models"), Component("reader", "loading"))
    answer = make_app(scripted_container(loaded=parts)).test_client().get("/readyz")
    assert answer.status_code == 503 and answer.json["ready"] is False
    _, judge, reader = answer.json["parts"]
    assert judge == {"name": "judge", "state": "failed", "message": "The weights are damaged.", "mend": "make models"}
    assert reader == {"name": "reader", "state": "loading"}


def test_a_database_without_tables_is_not_ready_and_names_the_fix(make_app, database_url):
    Path(database_url.removeprefix("sqlite:///")).write_bytes(b"")
    answer = make_app().test_client().get("/readyz")
    (database, *_) = answer.json["parts"]
    assert answer.status_code == 503 and database["state"] == "failed"
    assert "flask --app app db upgrade" in database["message"]


def test_a_read_only_database_is_not_ready(tmp_path, database_url):
    path = database_url.removeprefix("sqlite:///")
    app = create_app(
        Settings(instance=tmp_path, database_url=f"sqlite:///file:{path}?mode=ro&uri=true"), scripted_container()
    )
    client = app.test_client()
    (database, *_) = client.get("/readyz").json["parts"]
    assert client.get("/").status_code == 200
    assert database["state"] == "failed" and "The database is read-only" in database["message"]


def test_the_readiness_check_writes_nothing(client, database_url):
    finished(client)
    path = database_url.removeprefix("sqlite:///")

    def content() -> list[str]:
        with closing(sqlite3.connect(path)) as database:
            return list(database.iterdump())

    before = content()
    assert client.get("/readyz").status_code == 200 and content() == before
