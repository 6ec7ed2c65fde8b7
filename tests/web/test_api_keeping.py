"""What a run's owner keeps and gives away, by the JSON API."""

from __future__ import annotations

import pytest

from tests.fakes import Gate, scripted_wiring
from tests.web.test_api import RUNS, ended, held_to, problem, start, with_tokens

DELETED = "/api/v1/deleted"


@pytest.fixture
def address(client) -> str:
    """The address of a finished run."""
    found = start(client)
    ended(client, found)
    return found


def ids(answer) -> list[str]:
    return [run["id"] for run in held_to("RunList", answer.json)["runs"]]


class TestDeleting:
    def test_a_deleted_run_is_gone_for_everybody_and_its_owner_may_have_it_back(self, client, address):
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

    def test_a_run_that_goes_on_is_stopped_first(self, make_app):
        gate = Gate("answer 2")
        client = make_app(scripted_wiring(gate=gate)).test_client()
        address = start(client)
        assert gate.reached.wait(30)
        assert client.delete(address).status_code == 204
        gate.open()
        assert client.post(f"{address}/restore", json={}).json["state"] == "interrupted"

    def test_to_everybody_else_there_is_nothing_to_delete_or_to_have_back(self, client, address):
        stranger = client.application.test_client()
        problem(stranger.delete(address), 404)
        assert client.delete(address).status_code == 204
        problem(stranger.post(f"{address}/restore", json={}), 404)
        assert ids(stranger.get(DELETED)) == []

    def test_a_token_deletes_the_runs_of_its_name_alone(self, make_app, tmp_path):
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
