"""The reader's own verdict stands beside the machine's: on the report, in history, exports and tables of batches."""

from __future__ import annotations

import csv
import io
import re

import pytest

from tests.web.conftest import finished, token, wait_for


@pytest.fixture
def report(client) -> str:
    """The path of a finished report with the verdict True."""
    return re.search(r'action="(/runs/[\w-]+)/notes"', finished(client))[1]


def say(client, path: str, label: str = "REFUTED", **fields):
    form = {"csrf_token": token(client), "hop": "0", "seen": "", "label": label, **fields}
    return client.post(f"{path}/notes", data=form)


def test_anybody_sees_the_own_verdict_with_its_reason_and_no_name_unless_it_is_signed(client, report):
    stranger = client.application.test_client()
    assert say(client, report, text="Marlowe wrote it.").status_code == 303
    page = stranger.get(report).text
    assert "The reader’s verdict: False" in page and "Marlowe wrote it." in page and 'class="signed"' not in page
    seen = re.search(r'name="hop" value="0"><input type="hidden" name="seen" value="([^"]+)"', client.get(report).text)
    say(client, report, label="SUPPORTED", signed="Ann", seen=seen[1])
    page = stranger.get(report).text
    assert "The reader’s verdict: True" in page and "<bdi>Ann</bdi>" in page


def test_a_note_without_a_verdict_stays_private(client, report):
    say(client, report, label="", text="To be continued.", signed="Ann")
    assert "To be continued." in client.get(report).text
    assert "To be continued." not in client.application.test_client().get(report).text


def test_a_label_sent_with_the_note_on_a_step_is_no_verdict(client, report):
    assert say(client, report, hop="1", text="The page is forged.", signed="Ann").status_code == 303
    assert "The page is forged." in client.get(report).text
    assert "reader’s verdict" not in client.application.test_client().get(report).text
    assert "You: " not in client.get("/history").text


def test_history_shows_own_verdicts_and_finds_those_that_differ(client, report):
    other = re.search(r'action="(/runs/[\w-]+)/notes"', finished(client, "Hamlet was written in England."))[1]
    say(client, report)
    say(client, other, label="SUPPORTED")
    assert client.get("/history").text.count("You: ") == 2
    differing = client.get("/history?disagreed=yes").text
    assert report in differing and other not in differing


@pytest.mark.parametrize(
    ("file", "words"),
    [("export.md", "verdict: False"), ("export.json", '"REFUTED"'), ("export.html", "verdict: False")],
)
def test_exports_have_the_own_verdict_and_no_other_note_of_it(client, report, file, words):
    say(client, report)
    client.post(f"{report}/notes", data={"csrf_token": token(client), "hop": "1", "seen": "", "text": "Secret."})
    text = client.application.test_client().get(f"{report}/{file}").text
    assert words in text and "Secret." not in text


def test_the_table_of_a_batch_has_own_verdicts_and_what_decided(client):
    sent = {"csrf_token": token(client), "claims": "Hamlet's author was born in England."}
    batch = client.post("/batches", data=sent).location
    page = wait_for(client, batch, "1 of 1 checked")
    say(client, re.search(r'id="claim-1" href="([^"]+)"', page)[1], text="=1+1", signed="Ann")
    assert "The reader’s verdict: False" in client.get(batch).text
    row = next(csv.DictReader(io.StringIO(client.get(f"{batch}/results.csv").text)))
    assert (row["verdict"], row["answer"], row["own_label"], row["own_reason"], row["own_name"]) == (
        *("True", "William Shakespeare", "REFUTED", "'=1+1", "Ann"),
    )
    assert row["quote"] == "Hamlet is a play by William Shakespeare."
    assert row["url"] == "https://en.wikipedia.org/wiki/Hamlet" and "CC BY-SA" in row["source"]
