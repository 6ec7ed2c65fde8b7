"""Deletion, import, publishing and notes by the JSON API."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, update

from app.runs.models import EventRow
from tests.fakes import Gate, scripted_container
from tests.waiting import LONG
from tests.web.test_api import RUNS, ended, held_to, problem, start, with_tokens

DELETED = "/api/v1/deleted"
GALLERY = "/api/v1/gallery"
IMPORT = "/api/v1/import"


@pytest.fixture
def address(client) -> str:
    """The address of a finished run."""
    found = start(client)
    ended(client, found)
    return found


def ids(answer) -> list[str]:
    return [run["id"] for run in held_to("RunList", answer.json)["runs"]]


class TestDeleting:
    def test_a_deleted_run_is_gone_for_everyone_and_its_owner_can_restore_it(self, client, address):
        before, run_id = client.get(address).json, address.rpartition("/")[2]
        assert (client.delete(address).status_code, ids(client.get(RUNS))) == (204, [])
        for gone in (address, f"{address}/events", f"/runs/{run_id}"):
            assert client.get(gone).status_code == 404
        problem(client.delete(address), 404)
        assert ids(client.get(DELETED)) == [run_id]
        back = client.post(f"{address}/restore", json={})
        assert held_to("Run", back.json) == before == client.get(address).json
        assert client.post(f"{address}/restore", json={}).json == before, "a second time changes nothing"
        assert (ids(client.get(DELETED)), ids(client.get(RUNS))) == ([], [run_id])

    def test_deleting_a_running_run_stops_it_first(self, make_app):
        gate = Gate("answer 2")
        client = make_app(scripted_container(gate=gate)).test_client()
        address = start(client)
        assert gate.reached.wait(LONG)
        assert client.delete(address).status_code == 204
        gate.open()
        assert client.post(f"{address}/restore", json={}).json["state"] == "interrupted"

    def test_others_cannot_delete_or_restore_a_run(self, client, address):
        stranger = client.application.test_client()
        problem(stranger.delete(address), 404)
        assert client.delete(address).status_code == 204
        problem(stranger.post(f"{address}/restore", json={}), 404)
        assert ids(stranger.get(DELETED)) == []

    def test_a_run_stored_by_another_version_can_be_deleted_only_by_its_owner(self, client, address, database_url):
        engine = create_engine(database_url)
        with engine.begin() as connection:
            connection.execute(update(EventRow).values(version=99))
        engine.dispose()
        problem(client.get(address), 501)
        problem(client.application.test_client().delete(address), 404)
        assert client.delete(address).status_code == 204
        problem(client.get(address), 404)

    def test_a_token_deletes_only_the_runs_of_its_name(self, make_app, tmp_path):
        app, one, two = with_tokens(make_app, tmp_path, "one", "two")
        client = app.test_client()
        address = client.post(RUNS, json={"claim": "Hamlet is a play."}, headers=one).headers["Location"]
        problem(client.delete(address), 401)
        problem(client.get(DELETED), 401)
        problem(client.delete(address, headers=two), 404)
        assert client.delete(address, headers=one).status_code == 204
        assert [len(ids(client.get(DELETED, headers=each))) for each in (one, two)] == [1, 0]
        problem(client.post(f"{address}/restore", json={}, headers=two), 404)
        assert client.post(f"{address}/restore", json={}, headers=one).status_code == 200


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

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"\xff", b"{}", b'{"version": 99}', b"[" * 100_000])
    def test_a_body_that_is_not_a_report_is_refused_and_not_stored(self, client, body):
        refused = problem(client.post(IMPORT, data=body, content_type="application/json"), 422)
        assert refused["field"] == "report" and client.get(RUNS).json["runs"] == []

    def test_a_large_report_is_accepted_and_a_too_large_one_is_refused(self, client, address):
        exported = client.get(address).json
        for passage in exported["hops"][0]["evidence"]:
            passage["text"] += " and more" * 20_000
        assert client.post(IMPORT, json=exported).status_code == 201
        problem(client.post(IMPORT, json={**exported, "claim": "word " * 600_000}), 413)

    def test_an_import_counts_as_a_started_run_and_belongs_to_its_token(self, make_app, tmp_path):
        app, one, two = with_tokens(make_app, tmp_path, "one", "two", rate_limit="2 per hour")
        client = app.test_client()
        address = client.post(RUNS, json={"claim": "Hamlet is a play."}, headers=one).headers["Location"]
        exported = ended(client, address)
        problem(client.post(IMPORT, json=exported), 401)
        assert client.post(IMPORT, json=exported, headers=one).status_code == 201
        assert [len(ids(client.get(RUNS, headers=each))) for each in (one, two)] == [2, 0]
        problem(client.post(IMPORT, json=exported, headers=one), 429)


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

    def test_the_gallery_is_paged_and_filtered_by_label(self, client):
        for _ in range(3):
            address = start(client)
            ended(client, address)
            assert client.post(f"{address}/publish", json={}).status_code == 200
        first = client.get(f"{GALLERY}?limit=2&label=SUPPORTED").json
        rest = client.get(f"{GALLERY}?limit=2&cursor={first['next']}").json
        assert (len(first["reports"]), len(rest["reports"]), rest["next"]) == (2, 1, None)
        assert client.get(f"{GALLERY}?label=REFUTED").json["reports"] == []
        refused = problem(client.get(f"{GALLERY}?label=MAYBE"), 422)
        assert refused["field"] == "label" and refused["detail"].startswith("label must be one of: SUPPORTED, ")

    def test_a_report_taken_down_by_the_operator_cannot_be_published_again(self, client, address):
        client.application.extensions["hopcheck"].runs.publishing.take_down(address.rpartition("/")[2])
        assert "operator" in problem(client.post(f"{address}/publish", json={}), 409)["detail"]
        assert client.get(address).json["taken_down"] is True

    def test_without_the_operators_permission_there_is_no_publishing(self, make_app):
        client = make_app().test_client()
        address = start(client)
        ended(client, address)
        problem(client.get(GALLERY), 404)
        assert "not allowed" in problem(client.post(f"{address}/publish", json={}), 404)["detail"]


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

    @pytest.mark.parametrize(
        ("sent", "field"),
        [
            ({}, "text"),
            ({"text": "  "}, "text"),
            ({"text": "x" * 2001}, "text"),
            ({"text": "\0"}, "text"),
            ({"text": 1}, "text"),
            ({"agrees": "yes"}, "agrees"),
            ({"hop": 1, "agrees": True}, "hop"),
        ],
    )
    def test_an_invalid_note_is_refused_with_its_field(self, client, address, sent, field):
        assert problem(client.put(f"{address}/notes/1", json=sent), 422)["field"] == field
        assert client.get(f"{address}/notes").json["notes"] == []

    @pytest.mark.parametrize("hop", ["3", "-1", "two", "²", "1.0", "9" * 5000])
    def test_notes_on_an_unknown_hop_are_refused(self, client, address, hop):
        for answer in (
            client.put(f"{address}/notes/{hop}", json={"agrees": True}),
            client.delete(f"{address}/notes/{hop}"),
        ):
            assert problem(answer, 404)["detail"].endswith("A hop is named by its number; 0 is the verdict.")

    def test_a_running_run_takes_no_notes(self, make_app):
        gate = Gate("answer 2")
        client = make_app(scripted_container(gate=gate)).test_client()
        address = start(client)
        for hop in ("1", "two"):
            problem(client.put(f"{address}/notes/{hop}", json={"agrees": True}), 409)
        gate.open()

    def test_others_cannot_read_or_write_notes(self, client, address):
        stranger = client.application.test_client()
        client.put(f"{address}/notes/1", json={"text": "Mine alone."})
        problem(stranger.get(f"{address}/notes"), 404)
        problem(stranger.put(f"{address}/notes/1", json={"text": "Mine!"}), 404)
        problem(stranger.delete(f"{address}/notes/1"), 404)
        assert "Mine alone." not in stranger.get(address).text
        assert [note["text"] for note in client.get(f"{address}/notes").json["notes"]] == ["Mine alone."]
