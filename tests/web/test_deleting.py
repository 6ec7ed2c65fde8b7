"""Deletion of runs and batches: confirmed once, restorable for a while, and idempotent."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from sqlalchemy import create_engine, update

from app.runs.models import EventRow, RunRow
from app.web.api.blueprint import API
from tests.web.conftest import press
from tests.web.test_batches import DONE, fed_until, started


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


def test_a_deleted_batch_is_gone_for_everyone_with_its_checks_and_can_be_restored(client):
    path = started(client, title="A <b>batch</b> of mine")
    run = re.search(r'href="(/runs/[\w-]+)"', fed_until(client, path, DONE))[1]
    other = client.application.test_client()
    assert f'href="{path}/delete"' in client.get(path).text and f'href="{path}/delete"' not in other.get(path).text
    question = unescape(client.get(f"{path}/delete").text)
    assert "Delete this batch?" in question and "All its checks are deleted with it" in question
    assert "cancelled first" not in question
    assert press(client, path, "delete").location == "/batches"
    for visitor in (client, other):
        for address in (path, f"{path}/results.csv", f"{path}/results.jsonl", f"{path}/cancel", f"{API}{path}", run):
            assert visitor.get(address).status_code == 404, address
    listed = client.get("/batches").text
    assert "Deleted.</b>" in listed and "A &lt;b&gt;batch" in listed and f'href="{path}"' not in listed
    assert "Deleted.</b>" not in other.get("/batches").text and "Deleted.</b>" not in client.get("/history").text
    assert press(client, path, "restore").location == path
    assert DONE in client.get(path).text and client.get(run).status_code == 200
