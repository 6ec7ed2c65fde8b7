"""Batches by the JSON API: start, progress, steering and results, as on the pages."""

from __future__ import annotations

import pytest

from app.web.api.blueprint import API
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


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "claims"),
        ({"claims": ["?"]}, "claims"),
        ({"claims": [{"claim": "The sea is wet.", "more": 1}]}, "claims"),
        ({"claims": CLAIMS, "answerer": "oracle"}, "answerer"),
        ({"claims": ["The sea is wet."] * 10_001}, "claims"),
    ],
)
def test_invalid_input_names_the_field_and_starts_nothing(client, sent, field):
    answer = client.post(BATCHES, json=sent)
    assert (answer.status_code, answer.json["field"]) == (422, field)
    assert client.get(BATCHES).json["batches"] == []
