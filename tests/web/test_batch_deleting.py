"""A batch's owner deletes it after a confirmation, and can restore it for a while: page and API."""

from __future__ import annotations

import re
from html import unescape

import pytest

from app.web.api.blueprint import API
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
