"""Batches by the JSON API: start, progress, steering and results, as on the pages."""

from __future__ import annotations

import pytest

from app.web.api.blueprint import API
from app.web.pages.batches import CLOSED, NOT_NOW
from tests.fakes import FAILING, TWO_HOPS, Gate, scripted_container
from tests.waiting import until

BATCHES = f"{API}/batches"
CLAIMS = ["The moon is made of rock.", {"claim": "The sea is wet.", "speaker": "Somebody", "date": "2020-10-31"}]


def done(client, path: str) -> dict:
    """Feed batches, as a server's scheduler does, until this one is done; return it."""

    def look() -> dict | None:
        client.application.extensions["hopcheck"].runs.feeder.feed()
        return progress if (progress := client.get(path).json)["state"] == "done" else None

    return until(look, "a batch that is done")


def test_a_batch_is_started_and_listed_and_its_results_are_paged(client):
    answer = client.post(BATCHES, json={"claims": [*CLAIMS, "?"], "title": "Mine", "labels": "four"})
    path = answer.headers["Location"]
    assert answer.status_code == 201 and path == f"{BATCHES}/{answer.json['id']}"
    progress = done(client, path)
    assert progress["counts"] == {"SUPPORTED": 2, "bad input": 1} and (progress["done"], progress["total"]) == (3, 3)
    assert [each["title"] for each in client.get(BATCHES).json["batches"]] == ["Mine"]
    first = client.get(f"{path}/results?limit=2").json
    assert [each["label"] for each in first["results"]] == ["SUPPORTED"] * 2 and first["next"] == 2
    assert first["results"][1]["speaker"] == "Somebody"
    last = client.get(f"{path}/results?limit=2&after=2").json
    assert last["next"] is None and last["results"][0]["problem"].startswith("Claim 3: The claim is too short")


def test_a_batch_is_paused_resumed_and_cancelled_once(make_app):
    gate = Gate("question 1")
    client = make_app(scripted_container(gate=gate)).test_client()
    path = client.post(BATCHES, json={"claims": CLAIMS}).headers["Location"]

    def press(button: str):
        return client.post(f"{path}/{button}", json={})

    assert press("pause").json["state"] == "paused"
    assert press("resume").json["state"] == "going"
    assert press("cancel").json["state"] == "cancelled"
    late = press("cancel")
    assert (late.status_code, late.json["detail"]) == (409, NOT_NOW)
    gate.open()


def test_failed_claims_can_be_retried(make_app):
    client = make_app(scripted_container(FAILING, TWO_HOPS), workers=1).test_client()
    path = client.post(BATCHES, json={"claims": CLAIMS}).headers["Location"]
    assert done(client, path)["counts"] == {"failed": 1, "SUPPORTED": 1}
    assert client.post(f"{path}/retry", json={}).status_code == 200
    assert done(client, path)["counts"] == {"SUPPORTED": 2}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "claims"),
        ({"claims": "text"}, "claims"),
        ({"claims": ["?"]}, "claims"),
        ({"claims": [5]}, "claims"),
        ({"claims": [{"claim": "The sea is wet.", "more": 1}]}, "claims"),
        ({"claims": [{"claim": "The sea is wet.", "speaker": 1}]}, "claims"),
        ({"claims": [{"claim": None}]}, "claims"),
        ({"claims": CLAIMS, "answerer": "oracle"}, "answerer"),
        ({"claims": CLAIMS, "claim": "The sea is wet."}, "claim"),
        ({"claims": ["The sea is wet."] * 10_001}, "claims"),
    ],
)
def test_invalid_input_names_the_field_and_starts_nothing(client, sent, field):
    answer = client.post(BATCHES, json=sent)
    assert (answer.status_code, answer.json["field"]) == (422, field)
    assert client.get(BATCHES).json["batches"] == []


def test_a_results_cursor_that_is_not_a_number_is_refused(client):
    path = client.post(BATCHES, json={"claims": CLAIMS}).headers["Location"]
    assert client.get(f"{path}/results?after=x").status_code == 422


def test_the_same_request_with_the_same_idempotency_key_starts_one_batch(make_app):
    app = make_app()
    client, other = app.test_client(), app.test_client()

    def start(visitor, key: str | None, claims: list = CLAIMS) -> str:
        sent = visitor.post(BATCHES, json={"claims": claims}, headers={"Idempotency-Key": key} if key else {})
        assert sent.status_code == 201
        return sent.json["id"]

    assert start(client, "1") == start(client, "1")
    assert len({start(client, "1"), start(client, "2"), start(client, "1", CLAIMS[:1]), start(other, "1")}) == 4
    assert start(client, None) != start(client, None)


def test_the_operator_sets_the_maximum_number_of_claims_per_batch(make_app):
    answer = make_app(batch_claims=2).test_client().post(BATCHES, json={"claims": [*CLAIMS, *CLAIMS]})
    progress = "There are more than 2 claims, and no more are allowed."
    assert (answer.status_code, answer.json["detail"], answer.json["field"]) == (422, progress, "claims")


def test_a_site_with_batches_switched_off_refuses_them_with_a_reason(make_app):
    client = make_app(batch_claims=0).test_client()
    answer = client.post(BATCHES, json={"claims": CLAIMS})
    assert (answer.status_code, answer.json["detail"]) == (404, CLOSED)
    assert client.get(BATCHES).json["batches"] == []
