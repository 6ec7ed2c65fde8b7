"""Batches on the pages: upload, progress, pause, cancel, retry and results."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest

from app.batches.files import MAX_BYTES
from app.web.api.blueprint import API
from app.web.batches import CLOSED, NOTHING_FAILED
from tests.fakes import FAILING, TWO_HOPS, scripted_container
from tests.waiting import until
from tests.web.conftest import press, token

DONE = "2 of 2 checked, 1 cannot be checked"
CLAIMS = "Hamlet's author was born in England.\n=1+1 is what a table makes of this.\n?\n"


def send(client, claims: str = CLAIMS, **fields):
    """Post the form, by default with claims pasted."""
    return client.post("/batches", data={"csrf_token": token(client), "claims": claims, **fields})


def started(client, claims: str = CLAIMS, **fields) -> str:
    answer = send(client, claims, **fields)
    assert answer.status_code == 303, answer.text
    return answer.location


def fed_until(client, path: str, text: str) -> str:
    """Feed batches, as a server's scheduler does, until the page holds `text`; feed once more and return the page."""

    def page() -> str:
        client.application.extensions["hopcheck"].batches.feed()
        return unescape(client.get(path).text)

    until(lambda: text in page(), f"{text!r} on {path}")
    return page()  # a batch whose last check ended after it was fed is done only now


def test_pasted_claims_become_a_batch_page_with_labels_and_links(client):
    path = started(client, title="  My\nclaims ")
    page = fed_until(client, path, DONE)
    assert "My claims" in page and "hx-get" not in page and "http-equiv" not in page
    assert page.count("True</span>") == 3, "two claims and the count of them"
    assert "Line 3: The claim is too short: it needs at least 3 characters." in page
    links = re.findall(r'<a id="claim-\d" href="(/runs/[\w-]+)"', page)
    assert len(links) == 2 and "=1+1 is what" in unescape(client.get(links[1]).text)
    assert path in client.get("/batches").text


def test_an_uploaded_file_gives_the_title_the_speakers_and_the_dates(client):
    sent = b"claim,speaker,date\nThe moon is made of rock.,Somebody,2020-10-31\n"
    path = started(client, "", file=(io.BytesIO(sent), "moon.csv"))
    page = client.get(path).text
    assert '<h1 dir="auto">moon.csv</h1>' in page and "Somebody" in page and "2020-10-31" in page


def test_the_page_of_an_unfinished_batch_refreshes_with_and_without_script(gated):
    client, gate = gated("question 1")
    path = started(client)
    page = client.get(path).text
    assert "0 of 2 checked, 1 cannot be checked" in page
    assert f'hx-get="{path}" hx-trigger="every 3s"' in page
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page
    gate.open()
    fed_until(client, path, DONE)


def test_a_batch_is_paused_resumed_and_cancelled_after_a_confirmation(gated):
    client, _ = gated("question 1", workers=1)
    path = started(client, "Yes!\n" * 30)
    assert press(client, path, "pause").location == path
    page = client.get(path).text
    assert "Paused" in page and "Continue</button>" in page and "22" in page
    assert press(client, path, "pause").status_code == 409
    assert press(client, path, "resume").location == path
    assert "Cancel this batch?" in client.get(f"{path}/cancel").text
    assert press(client, path, "cancel").location == path
    page = client.get(path).text
    assert re.search("Cancelled: [89] of 30 checked", page), "the runs that had started, and one that started meanwhile"
    assert (
        "Its batch was cancelled." in page and "</button>" not in page[page.index("batch-now") : page.index("</main>")]
    )


def test_failed_claims_can_be_retried(make_app):
    client = make_app(scripted_container(FAILING, TWO_HOPS), workers=1).test_client()
    path = started(client)
    assert "Try the failed again" in fed_until(client, path, DONE)
    assert press(client, path, "retry").location == path
    assert "Try the failed again" not in fed_until(client, path, DONE)
    again = press(client, path, "retry")
    assert again.status_code == 409 and NOTHING_FAILED in again.text


def test_results_are_exported_as_safe_csv_and_as_json_lines(client):
    path = started(client)
    fed_until(client, path, DONE)
    table = client.get(f"{path}/results.csv")
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert table.headers["Content-Disposition"] == "attachment; filename=hopcheck-batch.csv"
    records = list(csv.DictReader(io.StringIO(table.text, newline="")))
    assert records[1]["claim"] == "'=1+1 is what a table makes of this."
    assert re.fullmatch(r"http://localhost/runs/[\w-]{22}", records[0]["permalink"])
    lines = [json.loads(line) for line in client.get(f"{path}/results.jsonl").text.splitlines()]
    assert [(each["label"], each["state"]) for each in lines] == [
        ("SUPPORTED", "verdict"),
        ("SUPPORTED", "verdict"),
        (None, "bad input"),
    ]


def test_a_long_batch_has_pages_of_a_hundred(client):
    path = started(client, "".join(f"Claim number {number}.\n" for number in range(1, 251)))
    assert press(client, path, "pause").status_code == 303
    first, last = client.get(path).text, client.get(f"{path}?after=200").text
    assert "Claim number 100." in first and "Claim number 101." not in first and f'href="{path}?after=100"' in first
    assert "Claim number 201." in last and "Claim number 200." not in last and 'rel="next"' not in last
    for nonsense in ("-1", "x", "9" * 30, "%00"):
        assert "Claim number 1." in client.get(f"{path}?after={nonsense}").text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"claims": "?\n"}, "There is no good claim in it."),
        ({"claims": "A good claim.", "answerer": "oracle"}, "There is no answerer 'oracle'"),
    ],
)
def test_a_refused_form_comes_back_as_typed_with_the_reason(client, fields, message):
    answer = send(client, title="My title", **fields)
    page = unescape(answer.text)
    assert answer.status_code == 422 and message in page and 'value="My title"' in page
    assert fields["claims"].strip() in page
    assert "/batches/" not in client.get("/batches").text


REFUSED = {
    "claims": (422, "multipart/form-data", b"Claim.\n"),
    "CSV": (422, "multipart/form-data", b"claim\n" + b"a\n" * MAX_BYTES),
    "JSON lines": (422, "multipart/form-data", b"{\n"),
    "objects": (422, "application/json", b'{"claims":[' + b'"ab",' * 900_000 + b'"ab"]}'),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_batch_of_the_maximum_size_that_has_no_valid_claim_is_refused(client, kind):
    status, media, sent = REFUSED[kind]
    sent = (sent * (MAX_BYTES // len(sent) + 1))[:MAX_BYTES] if len(sent) < 100 else sent[:MAX_BYTES]
    path = "/api/v1/batches" if media == "application/json" else "/batches"
    form = {"csrf_token": token(client), "file": (io.BytesIO(sent), "claims")}
    answer = client.post(path, data=form if media.startswith("multi") else sent, content_type=media)
    assert answer.status_code == status


def test_the_operator_sets_the_maximum_number_of_claims_per_batch(make_app):
    client = make_app(batch_claims=2).test_client()
    assert "Check up to 2 claims" in client.get("/batches").text
    assert send(client, "The sea is wet.\nIce is cold.").status_code == 303
    answer = send(client, CLAIMS)
    assert answer.status_code == 422 and "There are more than 2 claims, and no more are allowed." in answer.text


def test_with_batches_switched_off_no_page_links_to_them_and_their_page_says_why(make_app):
    made_before = make_app()
    path = started(client := made_before.test_client())
    cookie = client.get_cookie("hopcheck").value
    client = make_app(batch_claims=0, secret_key=made_before.secret_key).test_client()
    client.set_cookie("hopcheck", cookie)
    assert "/batches" not in client.get("/").text
    page = client.get("/batches").text
    assert CLOSED in page and "<textarea" not in page and f'href="{path}"' in page
    answer = send(client)
    assert answer.status_code == 404 and CLOSED in answer.text
    assert client.get(path).status_code == 200 and press(client, path, "pause").status_code == 303


def test_a_batch_of_the_api_is_listed_and_its_results_are_paged(client):
    claims = ["The moon is made of rock.", {"claim": "The sea is wet.", "speaker": "Somebody", "date": "2020-10-31"}]
    answer = client.post(f"{API}/batches", json={"claims": [*claims, "?"], "title": "Mine", "labels": "four"})
    path = answer.headers["Location"]
    assert answer.status_code == 201 and path == f"{API}/batches/{answer.json['id']}"
    fed_until(client, path.removeprefix(API), DONE)
    progress = client.get(path).json
    assert progress["counts"] == {"SUPPORTED": 2, "bad input": 1} and (progress["done"], progress["total"]) == (3, 3)
    assert [each["title"] for each in client.get(f"{API}/batches").json["batches"]] == ["Mine"]
    first = client.get(f"{path}/results?limit=2").json
    assert [each["label"] for each in first["results"]] == ["SUPPORTED"] * 2 and first["next"] == 2
    assert first["results"][1]["speaker"] == "Somebody"
    last = client.get(f"{path}/results?limit=2&after=2").json
    assert last["next"] is None and last["results"][0]["problem"].startswith("Claim 3: The claim is too short")


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "claims"),
        ({"claims": [{"claim": "The sea is wet.", "more": 1}]}, "claims"),
    ],
)
def test_invalid_input_of_the_api_names_the_field_and_starts_nothing(client, sent, field):
    answer = client.post(f"{API}/batches", json=sent)
    assert (answer.status_code, answer.json["field"]) == (422, field)
    assert client.get(f"{API}/batches").json["batches"] == []
