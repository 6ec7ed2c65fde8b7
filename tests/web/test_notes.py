"""Notes are private, never overwritten unseen, and survive errors; the owner's own verdict is shown to everybody."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest

from tests.waiting import LONG
from tests.web.conftest import ended_run, press, started, wait_for
from tests.web.test_api import held_to
from tests.web.test_batches import started as batch_of

SCRIPT = {"HX-Request": "true"}


def place(page: str, hop: int) -> str:
    """Return the HTML of the note on a hop."""
    start = page.index(f'<div id="note-{hop}" class="note">')
    return page[start : page.index("</details>", start)]


def write(client, path: str, hop="1", headers=None, **fields):
    """Send the note form of a hop as the page of the run shows it now, with `fields` changed."""
    seen = (
        re.search(r'name="seen" value="([^"]*)"', page[page.index(f'id="note-{hop}"') :])
        if (f'id="note-{hop}"' in (page := client.get(path).text))
        else None
    )
    form = {"hop": hop, "seen": seen[1] if seen else "", "agrees": "no", **fields}
    return press(client, path, "notes", headers, **form)


def typed(page: str, hop: int) -> str:
    """Return the content of the text box of a hop's note."""
    return html.unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", place(page, hop), re.DOTALL)[1])


def test_a_note_is_written_changed_and_removed(client, path):
    written = write(client, path, text="The page is\n<b>forged</b>.")
    assert (written.status_code, written.location) == (303, f"{path}#note-1")
    noted = place(client.get(path).text, 1)
    assert "You disagree" in noted and "The page is\n&lt;b&gt;forged&lt;/b&gt;." in noted
    write(client, path, agrees="", text="On second thought.")
    assert "Your note" in (noted := place(client.get(path).text, 1)) and "On second thought." in noted
    write(client, path, remove="yes")
    assert "On second thought." not in client.get(path).text


@pytest.mark.parametrize("headers", [{}, SCRIPT])
@pytest.mark.parametrize(
    ("text", "agrees", "sentence"),
    [
        ("x" * 2001, "no", "The note has 2,001 characters; at most 2,000 are allowed."),
        ("a\x07b", "yes", "The note holds control characters; please take them out."),
        ("  ", "", "Choose one of these, or write something."),
    ],
)
def test_an_invalid_note_comes_back_as_typed(client, path, text, agrees, sentence, headers):
    answer = write(client, path, hop="2", text=text, agrees=agrees, headers=headers)
    assert answer.status_code == (200 if headers else 422)
    sent_back = place(answer.text, 2)
    assert sentence in sent_back and f'value="{agrees}" checked' in sent_back and typed(answer.text, 2) == text
    assert "<details open>" in sent_back
    assert sentence not in client.get(path).text


def test_a_second_tab_does_not_overwrite_the_note_of_the_first(client, path):
    write(client, path, text="From the first tab.")
    answer = write(client, path, text="From the second.", seen="")
    assert answer.status_code == 409
    both = place(answer.text, 1)
    assert "changed in another tab" in both and "From the first tab." in both
    assert typed(answer.text, 1) == "From the second."
    seen = re.search(r'name="seen" value="([^"]+)"', both)[1]
    assert write(client, path, text="From the second.", seen=seen).status_code == 303
    assert "From the second." in client.get(path).text and "From the first tab." not in client.get(path).text


def test_notes_are_offered_once_the_run_has_ended(gated):
    client, gate = gated("answer 2")
    path = started(client)
    assert gate.reached.wait(LONG)
    assert 'class="note"' not in client.get(path).text
    refused = write(client, path, text="Too early.")
    assert refused.status_code == 409 and "This check is still running" in refused.text
    gate.open()
    stream = client.get(f"{path}/events").text
    assert all(f'id="note-{hop}"' in stream for hop in (0, 1, 2))
    assert all(f'id="note-{hop}"' in client.get(path).text for hop in (0, 1, 2))


def test_only_the_owner_can_export_notes_and_only_on_request(client, path):
    write(client, path, hop="0", agrees="yes", text="")
    write(client, path, hop="2", text="Stratford is\n*not* the point.")
    (on_verdict, on_hop) = client.get(f"{path}/export.json?notes=yes").json["notes"]
    assert (on_verdict["hop"], on_verdict["agrees"], on_hop["text"]) == (0, True, "Stratford is\n*not* the point.")
    markdown = client.get(f"{path}/export.md?notes=yes").text
    assert "**My note. I agree.**" in markdown and "**My note. I disagree.** Stratford is" in markdown
    assert "\\*not\\* the point." in markdown
    stranger = client.application.test_client()
    for reader, query in ((client, ""), (client, "?notes=no"), (stranger, "?notes=yes")):
        assert "notes" not in reader.get(f"{path}/export.json{query}").json
        assert "Stratford is" not in reader.get(f"{path}/export.md{query}").text


def test_by_the_api_a_note_is_written_replaced_read_and_removed(client, path):
    address = f"/api/v1{path}/notes"
    for note in ({"agrees": False}, {"agrees": True, "text": "Which\nShakespeare?"}):
        held_to("Note", client.put(f"{address}/2", json=note).json)
    (found,) = held_to("NoteList", client.get(address).json)["notes"]
    assert (found["hop"], found["agrees"], found["text"]) == (2, True, "Which\nShakespeare?")
    assert [client.delete(f"{address}/2").status_code for _ in range(2)] == [204, 204]
    assert client.get(address).json == {"notes": []}


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
