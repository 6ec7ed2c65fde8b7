"""A batch's owner deletes it after a confirmation, and can restore it for a while: page and API."""

from __future__ import annotations

import re
from html import unescape

import pytest

from app.web.api.blueprint import API
from app.web.pages.batches import TOO_LATE
from app.web.security import STALE
from tests.fakes import Gate, scripted_container
from tests.web.test_batches import DONE, fed_until, press, started

TITLE = "A <b>batch</b> of mine"


@pytest.fixture
def path(client) -> str:
    """The page of a batch that is done."""
    path = started(client, title=TITLE)
    fed_until(client, path, DONE)
    return path


def link_of_a_run(client, path: str) -> str:
    return re.search(r'href="(/runs/[\w-]+)"', client.get(path).text)[1]


def test_a_deleted_batch_is_gone_for_everyone_with_its_checks_and_can_be_restored(client, path):
    other, run = client.application.test_client(), link_of_a_run(client, path)
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


def test_deleting_an_unfinished_batch_cancels_it_first_and_says_so(make_app):
    gate = Gate("question 1")
    client = make_app(scripted_container(gate=gate), workers=1).test_client()
    path = started(client, "Yes!\n" * 30)
    assert "It is not over, and is cancelled first." in client.get(f"{path}/delete").text
    press(client, path, "delete")
    gate.open()
    press(client, path, "restore")
    page = client.get(path).text
    assert re.search(r"Cancelled: \d+ of 30 checked", page) and "Its batch was deleted." in page


def test_deleting_and_restoring_are_idempotent(client, path):
    assert [press(client, path, "delete").location for _ in range(2)] == ["/batches"] * 2
    assert client.get(f"{path}/delete").location == "/batches"
    assert [press(client, path, "restore").location for _ in range(2)] == [path] * 2


def test_others_cannot_delete_or_restore_a_batch(client, path):
    other = client.application.test_client()
    assert other.get(f"{path}/delete").status_code == press(other, path, "delete").status_code == 404
    press(client, path, "delete")
    answer = press(other, path, "restore")
    assert answer.status_code == 404 and TOO_LATE in unescape(answer.text)
    assert press(client, path, "restore").location == path


def test_a_stale_form_asks_again_and_changes_nothing(client, path):
    answer = client.post(f"{path}/delete", data={"csrf_token": "old"})
    assert answer.status_code == 400 and STALE in answer.text and "Delete this batch?" in answer.text
    assert client.get(path).status_code == 200
    press(client, path, "delete")
    answer = client.post(f"{path}/restore", data={"csrf_token": "old"})
    assert answer.status_code == 400 and STALE in answer.text and f'action="{path}/restore"' in answer.text
    assert client.get(path).status_code == 404


def test_the_api_deletes_lists_and_restores_a_batch(client):
    made = client.post(f"{API}/batches", json={"claims": ["The sea is wet."], "title": "Mine"}).json
    path = f"{API}/batches/{made['id']}"
    assert client.delete(path, data="{").status_code == 204, "a body is ignored, as when a run is deleted"
    assert client.delete(path).status_code == 404
    assert [each["id"] for each in client.get(f"{API}/deleted/batches").json["batches"]] == [made["id"]]
    assert client.get(f"{API}/batches").json["batches"] == []
    back = client.post(f"{path}/restore", json={})
    assert (back.status_code, back.json["state"], back.json["total"]) == (200, "cancelled", 1)
    assert client.post(f"{path}/restore", json={}).json["id"] == made["id"], "a second time changes nothing"
    assert client.get(f"{API}/deleted/batches").json["batches"] == []
