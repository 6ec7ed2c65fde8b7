"""The stream of a run: whole sections with ids, harmless when repeated, closed when the run has ended."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator

import pytest
from lxml import html

from app.extensions import db
from app.web import sse as streaming
from app.web.sse import message
from tests.fakes import TWO_HOPS, scripted_container
from tests.waiting import LONG
from tests.web.conftest import started, wait_for


def read(client, path: str, after: str = "", **headers) -> str:
    """Read the stream of a run to its end."""
    return client.get(f"{path}/events{after}", headers=headers).text


def ids(stream: str) -> list[int]:
    return [int(number) for number in re.findall(r"^id: (\d+)$", stream, re.MULTILINE)]


def swapped(stream: str) -> list[str]:
    """Return the ids of the elements that a message carries as out-of-band swaps."""
    sent = "\n".join(re.findall(r"^data: (.*)$", stream, re.MULTILINE))
    return html.document_fromstring(f"<body>{sent}</body>").xpath("//*[@hx-swap-oob]/@id")


def test_a_stream_follows_a_run_to_its_end_and_closes(make_app):
    client = make_app(scripted_container(delay=0.02)).test_client()
    answer = client.get(started(client) + "/events")
    assert answer.mimetype == "text/event-stream" and answer.headers["Cache-Control"] == "no-store"
    assert answer.text.endswith("event: end\ndata: end\n\n")
    assert ids(answer.text) == sorted(set(ids(answer.text)))
    assert {"hop-1", "hop-2", "status", "clock", "verdict"} <= set(swapped(answer.text))


def test_every_streamed_section_has_its_element_on_the_initial_page(gated):
    client, gate = gated("question 1")
    path = started(client)
    page = wait_for(client, path, 'id="at-work"')
    gate.open()
    assert all(page.count(f'id="{piece}"') == 1 for piece in set(swapped(read(client, path))))


def test_without_a_free_slot_a_stream_sends_the_current_state_and_closes(gated):
    client, gate = gated("answer 2", threads=1)
    app = client.application
    path = started(client)
    assert gate.reached.wait(LONG)
    with app.extensions["hopcheck"].followers.slot():
        stream = read(client, path)
    assert "hop-1" in swapped(stream) and "event: end" not in stream


def test_a_stream_slot_is_released_when_the_reader_leaves(gated):
    client, _ = gated("answer 1", threads=1)
    app = client.application
    followers = app.extensions["hopcheck"].followers
    answer = client.get(started(client) + "/events")
    chunks = answer.iter_encoded()
    while b"event: update" not in next(chunks):
        pass
    assert not followers.has_room
    answer.close()
    assert followers.has_room


def test_line_ends_inside_a_message_cannot_end_it():
    assert message("a\r\nb\rc\nd\u2028e", 4) == "id: 4\nevent: update\ndata: a\ndata: b\ndata: c\ndata: d\u2028e\n\n"


@pytest.fixture
def follow() -> Iterator[Callable]:
    """Open a stream as a browser does; all streams are closed when the test ends."""
    opened = []

    def open_stream(client, path: str, after: str = ""):
        opened.append(client.get(f"{path}/events{after}"))
        return opened[-1]

    yield open_stream
    for answer in opened:
        answer.close()


def chunks_until(answer, *texts: str) -> list[str]:
    """Read a stream up to the first chunk that holds one of `texts`, and return its chunks."""
    sent: list[str] = []
    for chunk in answer.iter_encoded():
        sent.append(chunk.decode())
        if any(text in sent[-1] for text in texts):
            return sent
    raise AssertionError(f"the stream ended without {texts}: {sent}")


def test_the_stream_of_a_queued_run_sends_its_position_and_then_the_run(gated, follow):
    client, gate = gated("answer 1", TWO_HOPS, TWO_HOPS, workers=1)
    first, _second, third = started(client), started(client), started(client)
    assert gate.reached.wait(LONG)
    assert "2nd in line" in client.get(third).text and "in line" not in client.get(first).text
    answer = follow(client, third, "?after=2")
    (update,) = [chunk for chunk in chunks_until(answer, "2nd in line") if "2nd in line" in chunk]
    assert swapped(update) == ["status", "clock", "usage"] and ids(update) == []
    gate.open()
    assert "Who wrote Hamlet?" in "".join(chunks_until(answer, "event: end"))


def test_a_waiting_reader_holds_no_database_connection(gated, follow):
    client, _ = gated("answer 1", workers=1)
    app = client.application
    started(client)
    waiting = started(client)
    answer = follow(client, waiting, "?after=2")
    chunks_until(answer, "Next in line")
    chunks_until(answer, streaming.HEARTBEAT)
    with app.app_context():
        assert db.engine.pool.checkedout() == 0


def test_a_stopping_server_closes_streams_without_an_end_message(gated, follow):
    client, _ = gated("answer 1")
    app = client.application
    answer = follow(client, started(client))
    chunks_until(answer, "Who wrote Hamlet?")
    threading.Timer(0.2, app.extensions["hopcheck"].runs.stop).start()
    assert "event: end" not in "".join(chunk.decode() for chunk in answer.iter_encoded())


def test_a_database_failure_closes_the_stream_and_is_logged(gated, follow, caplog):
    client, _ = gated("answer 1")
    app = client.application
    answer = follow(client, started(client))
    chunks_until(answer, "Who wrote Hamlet?")
    with app.app_context():
        db.session.execute(db.text("ALTER TABLE runs RENAME TO lost"))
        db.session.commit()
    assert "event: end" not in "".join(chunk.decode() for chunk in answer.iter_encoded())
    assert any("was closed: " in record.getMessage() for record in caplog.records)
    with app.app_context():
        db.session.execute(db.text("ALTER TABLE lost RENAME TO runs"))
        db.session.commit()
