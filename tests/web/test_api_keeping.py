"""Deletion, import, publishing and notes by the JSON API."""

from __future__ import annotations

import pytest

from tests.web.test_api import RUNS, ended, held_to, start

GALLERY = "/api/v1/gallery"
IMPORT = "/api/v1/import"


@pytest.fixture
def address(client) -> str:
    """The address of a finished run."""
    found = start(client)
    ended(client, found)
    return found


class TestImporting:
    def test_a_run_read_from_the_api_can_be_imported_and_is_marked_as_imported(self, client, address):
        exported = client.get(address).json
        answer = client.post(IMPORT, json=exported)
        assert answer.status_code == 201
        run = held_to("Run", client.get(answer.headers["Location"]).json)
        same = ("claim", "label", "hops", "rationale", "options", "usage")
        assert {name: run[name] for name in same} == {name: exported[name] for name in same}
        assert run["imported"] and run["id"] != exported["id"]
        assert [each["imported"] for each in client.get(RUNS).json["runs"]] == [True, False]


class TestPublishing:
    @pytest.fixture
    def client(self, make_app):
        return make_app(publishing=True).test_client()

    def test_a_published_report_is_in_the_gallery_until_it_is_unpublished(self, client, address):
        for _ in range(2):  # publishing again changes nothing
            published = held_to("Run", client.post(f"{address}/publish", json={}).json)
        assert published["published_at"]
        body = held_to("Gallery", client.application.test_client().get(GALLERY).json)
        assert [(each["id"], each["label"]) for each in body["reports"]] == [(published["id"], "SUPPORTED")]
        for _ in range(2):
            assert client.post(f"{address}/unpublish", json={}).json["published_at"] is None
        assert client.get(GALLERY).json == {"reports": [], "next": None}


class TestNotes:
    def test_a_note_is_written_replaced_read_and_removed(self, client, address):
        assert held_to("NoteList", client.get(f"{address}/notes").json) == {"notes": []}
        held_to("Note", client.put(f"{address}/notes/2", json={"text": "Which\nShakespeare?"}).json)
        client.put(f"{address}/notes/0", json={"agrees": False})
        assert client.put(f"{address}/notes/0", json={"agrees": True, "text": "Rightly so."}).status_code == 200
        body = held_to("NoteList", client.get(f"{address}/notes").json)["notes"]
        assert [(note["hop"], note["agrees"], note["text"]) for note in body] == [
            (0, True, "Rightly so."),
            (2, None, "Which\nShakespeare?"),
        ]
        assert [client.delete(f"{address}/notes/0").status_code for _ in range(2)] == [204, 204]
        assert [note["hop"] for note in client.get(f"{address}/notes").json["notes"]] == [2]
