"""The reader's own verdict stands beside the machine's: on the report, in history, exports and tables of batches."""

from __future__ import annotations

import csv
import io
import re

import pytest

from tests.web.conftest import ended_run, press, wait_for
from tests.web.test_batches import started as batch_of


def say(client, path: str, label: str = "REFUTED", **fields):
    return press(client, path, "notes", **{"hop": "0", "seen": "", "label": label, **fields})


def test_anybody_sees_the_own_verdict_with_its_reason_and_no_name_unless_it_is_signed(client, path):
    stranger = client.application.test_client()
    assert say(client, path, text="Marlowe wrote it.").status_code == 303
    page = stranger.get(path).text
    assert "The reader’s verdict: False" in page and "Marlowe wrote it." in page and 'class="signed"' not in page
    seen = re.search(r'name="hop" value="0"><input type="hidden" name="seen" value="([^"]+)"', client.get(path).text)
    say(client, path, label="SUPPORTED", signed="Ann", seen=seen[1])
    page = stranger.get(path).text
    assert "The reader’s verdict: True" in page and "<bdi>Ann</bdi>" in page


def test_a_note_without_a_verdict_stays_private(client, path):
    say(client, path, label="", text="To be continued.", signed="Ann")
    assert "To be continued." in client.get(path).text
    assert "To be continued." not in client.application.test_client().get(path).text


def test_a_label_sent_with_the_note_on_a_step_is_no_verdict(client, path):
    assert say(client, path, hop="1", text="The page is forged.", signed="Ann").status_code == 303
    assert "The page is forged." in client.get(path).text
    assert "reader’s verdict" not in client.application.test_client().get(path).text
    assert "You: " not in client.get("/history").text


def test_history_shows_own_verdicts_and_finds_those_that_differ(client, path):
    other = ended_run(client, "Hamlet was written in England.")
    say(client, path)
    say(client, other, label="SUPPORTED")
    assert client.get("/history").text.count("You: ") == 2
    differing = client.get("/history?disagreed=yes").text
    assert path in differing and other not in differing


@pytest.mark.parametrize(
    ("file", "words"),
    [("export.md", "verdict: False"), ("export.json", '"REFUTED"'), ("export.html", "verdict: False")],
)
def test_exports_have_the_own_verdict_and_no_other_note_of_it(client, path, file, words):
    say(client, path)
    say(client, path, label="", hop="1", text="Secret.")
    text = client.application.test_client().get(f"{path}/{file}").text
    assert words in text and "Secret." not in text


def test_the_table_of_a_batch_has_own_verdicts_and_what_decided(client):
    batch = batch_of(client, "Hamlet's author was born in England.")
    page = wait_for(client, batch, "1 of 1 checked")
    say(client, re.search(r'id="claim-1" href="([^"]+)"', page)[1], text="=1+1", signed="Ann")
    assert "The reader’s verdict: False" in client.get(batch).text
    row = next(csv.DictReader(io.StringIO(client.get(f"{batch}/results.csv").text)))
    assert (row["verdict"], row["answer"], row["own_label"], row["own_reason"], row["own_name"]) == (
        *("True", "William Shakespeare", "REFUTED", "'=1+1", "Ann"),
    )
    assert row["quote"] == "Hamlet is a play by William Shakespeare."
    assert row["url"] == "https://en.wikipedia.org/wiki/Hamlet" and "CC BY-SA" in row["source"]
