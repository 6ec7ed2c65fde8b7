"""Deletion on the pages: confirmed once, restorable for a while, and idempotent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, update

from app.runs.models import EventRow, RunRow
from tests.web.conftest import token


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


def test_deleting_redirects_to_the_history_where_it_can_be_undone(client, path):
    pressed = press(client, path, "delete")
    assert (pressed.status_code, pressed.location) == (303, "/history")
    page = client.get("/history").text
    assert "<b>Deleted.</b>" in page and f'action="{path}/restore"' in page
    back = press(client, path, "restore")
    assert (back.status_code, back.location) == (303, path)
    assert 'id="verdict-heading"' in client.get(path).text
    assert "Deleted." not in client.get("/history").text


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


@pytest.mark.parametrize("purge", [False, True])
def test_restoring_too_late_is_reported_on_the_history(client, path, too_late, purge):
    press(client, path, "delete")
    too_late(purge)
    answer = press(client, path, "restore")
    assert (answer.status_code, "There is nothing to undo" in answer.text) == (404, True)
    assert "<h1>Your checks</h1>" in answer.text
    assert [press(client, path, "delete").status_code, client.get(f"{path}/delete").status_code] == [404, 404]
