"""Deletion on the pages: confirmed once, restorable for a while, and idempotent."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, update

from app.runs.models import EventRow, RunRow
from tests.fakes import Gate, scripted_container
from tests.waiting import LONG
from tests.web.conftest import started, token, wait_for


@pytest.fixture
def path(client) -> str:
    """The path of a finished run."""
    path = started(client)
    wait_for(client, path, 'id="verdict-heading"')
    return path


@pytest.fixture
def too_late(client, database_url):
    """Let the time for restoring pass and, with `purge`, purge the expired runs."""

    def expire(purge: bool) -> None:
        engine = create_engine(database_url)
        with engine.begin() as connection:
            connection.execute(update(RunRow).values(deleted_at=datetime.now(UTC) - timedelta(hours=1)))
        engine.dispose()
        if purge:
            assert client.application.extensions["hopcheck"].runs.deletion.purge()

    return expire


def press(client, path: str, button: str, **fields):
    return client.post(f"{path}/{button}", data={"csrf_token": token(client), **fields})


def test_the_confirmation_page_changes_nothing(client, path):
    page = client.get(f"{path}/delete").text
    assert "Delete this check?" in page and "10 minutes" in page
    assert "Hamlet&#39;s author was born in England." in page
    assert client.get(path).status_code == 200


def test_deleting_redirects_to_the_history_where_it_can_be_undone(client, path):
    pressed = press(client, path, "delete")
    assert (pressed.status_code, pressed.location) == (303, "/history")
    page = client.get("/history").text
    assert "<b>Deleted.</b>" in page and f'action="{path}/restore"' in page
    back = press(client, path, "restore")
    assert (back.status_code, back.location) == (303, path)
    assert 'id="verdict-heading"' in client.get(path).text
    assert "Deleted." not in client.get("/history").text


def test_a_deleted_run_is_gone_for_everyone(client, path):
    other, run_id = client.application.test_client(), path.rsplit("/", 1)[-1]
    press(client, path, "delete")
    for visitor in (client, other):
        for address in (path, f"{path}/events", f"{path}/branch?hop=1", f"/?again={run_id}"):
            assert visitor.get(address).status_code == 404, address
        for address in (f"/api/v1/runs/{run_id}", f"/api/v1/runs/{run_id}/events"):
            assert visitor.get(address).status_code == 404, address
        assert press(visitor, path, "stop").status_code == 404
    assert run_id not in client.get("/").text
    assert client.get("/api/v1/runs").json["runs"] == []
    assert "Deleted." not in other.get("/history").text


def test_a_branch_outlives_its_parent_and_a_deleted_branch_is_no_longer_listed(client, path):
    sent = client.post(f"{path}/branch", data={"csrf_token": token(client), "hop": 2, "question": "Where is he from?"})
    child = sent.location
    wait_for(client, child, 'id="verdict-heading"')
    assert child in client.get(path).text
    press(client, child, "delete")
    assert child not in client.get(path).text
    press(client, child, "restore")
    press(client, path, "delete")
    assert client.get(child).status_code == 200


def test_deleting_a_running_run_stops_it_first(make_app):
    gate = Gate("answer 2")
    client = make_app(scripted_container(gate=gate)).test_client()
    path = started(client)
    assert gate.reached.wait(LONG)
    assert "It is still running, and is stopped first." in client.get(f"{path}/delete").text
    assert press(client, path, "delete").status_code == 303
    gate.open()
    assert client.get(path).status_code == 404
    press(client, path, "restore")
    assert "You deleted this check." in client.get(path).text


def test_a_run_stored_by_another_version_can_be_deleted_only_by_its_owner(client, path, database_url):
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(update(EventRow).values(version=99))
    engine.dispose()
    other = client.application.test_client()
    assert client.get(path).status_code == 501
    assert [other.get(f"{path}/delete").status_code, press(other, path, "delete").status_code] == [404, 404]
    assert "Delete this check?" in client.get(f"{path}/delete").text
    assert press(client, path, "delete").status_code == 303
    assert client.get(path).status_code == 404
    assert press(client, path, "restore").location == press(client, path, "restore").location == path


def test_deleting_in_two_tabs_redirects_both_to_the_history(client, path):
    first, second = press(client, path, "delete"), press(client, path, "delete")
    assert (first.location, second.location) == ("/history", "/history")
    assert client.get(f"{path}/delete").location == "/history"


def test_restoring_twice_redirects_to_the_run(client, path):
    press(client, path, "delete")
    assert press(client, path, "restore").location == press(client, path, "restore").location == path


@pytest.mark.parametrize("purge", [False, True])
def test_restoring_too_late_is_reported_on_the_history(client, path, too_late, purge):
    press(client, path, "delete")
    too_late(purge)
    answer = press(client, path, "restore")
    assert (answer.status_code, "There is nothing to undo" in answer.text) == (404, True)
    assert "<h1>Your checks</h1>" in answer.text
    assert [press(client, path, "delete").status_code, client.get(f"{path}/delete").status_code] == [404, 404]


def test_others_cannot_delete_or_restore_a_run(client, path):
    other = client.application.test_client()
    assert other.get(f"{path}/delete").status_code == 404
    assert press(other, path, "delete").status_code == 404
    press(client, path, "delete")
    assert press(other, path, "restore").status_code == 404
    assert [other.get(f"{path}/delete").status_code, press(other, path, "delete").status_code] == [404, 404]
    assert press(client, path, "restore").location == path


def test_a_stale_form_asks_again_and_deletes_nothing(client, path):
    answer = client.post(f"{path}/delete", data={"csrf_token": "old"})
    assert (answer.status_code, "This page was out of date" in answer.text) == (400, True)
    assert "Delete this check?" in answer.text
    assert client.get(path).status_code == 200
    assert client.application.test_client().post(f"{path}/delete").status_code == 404


def test_a_stale_restore_form_comes_back_with_a_working_button(client, path):
    press(client, path, "delete")
    answer = client.post(f"{path}/restore", data={"csrf_token": "old"})
    assert answer.status_code == 400
    fresh = re.search(rf'action="{path}/restore"><input type="hidden" name="csrf_token" value="([^"]+)"', answer.text)[
        1
    ]
    assert client.post(f"{path}/restore", data={"csrf_token": fresh}).location == path
