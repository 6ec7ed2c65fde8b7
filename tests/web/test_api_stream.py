"""A program that follows a run gets every stored event exactly once, as JSON."""

from __future__ import annotations

import json
import re

from app.domain.report import reduce_events
from app.runs.event_store import decode
from app.web import sse as streaming
from tests.fakes import scripted_container
from tests.waiting import LONG
from tests.web.test_api import ended, held_to, start


def events(stream: str) -> list[dict]:
    """Return the stored events of a stream after checking that each id is its event's number."""
    found = re.findall(r"^id: (\d+)\ndata: (.*)\n\n", stream, re.MULTILINE)
    stored = [json.loads(data) for _, data in found]
    assert [int(number) for number, _ in found] == [event["seq"] for event in stored]
    return [held_to("StoredEvent", event) for event in stored]


def test_a_stream_sends_every_stored_event_and_then_the_end(make_app):
    app = make_app(scripted_container(delay=0.02))
    client = app.test_client()
    address = start(client)
    answer = client.get(f"{address}/events")
    assert answer.mimetype == "text/event-stream" and answer.headers["Cache-Control"] == "no-store"
    assert answer.text.startswith("retry: ") and answer.text.endswith(streaming.END)
    blocks = answer.text.strip().split("\n\n")
    assert all("data: " in each or each.startswith(":") for each in blocks), "some clients read others as empty events"
    stored = events(answer.text)
    assert [event["seq"] for event in stored] == list(range(1, len(stored) + 1))
    bare = [({**event}, event.pop("seconds"), event.pop("seq")) for event in map(dict, stored)]
    report = reduce_events(
        (decode({k: v for k, v in each.items() if k not in ("seq", "seconds")}, 1), at) for each, at, _ in bare
    )
    assert report.hops == app.extensions["hopcheck"].runs.report(address.rpartition("/")[2]).report.hops


def test_a_stream_resumed_after_any_event_loses_and_repeats_nothing(client):
    address = start(client)
    ended(client, address)
    whole = events(client.get(f"{address}/events").text)
    for seen in range(len(whole) + 1):
        by_header = client.get(f"{address}/events?after=1", headers={"Last-Event-ID": str(seen)}).text
        by_query = client.get(f"{address}/events?after={seen}").text
        assert events(by_header) == events(by_query) == whole[seen:]
        assert by_query.endswith(streaming.END)


def test_the_stream_of_a_queued_run_sends_its_position_without_an_id_and_then_heartbeats(gated):
    client, gate = gated("answer 1", workers=1)
    start(client)
    assert gate.reached.wait(LONG)
    answer = client.get(f"{start(client)}/events")
    sent = ""
    chunks = answer.iter_encoded()
    while streaming.HEARTBEAT not in sent:
        sent += next(chunks).decode()
    gate.open()
    rest = "".join(chunk.decode() for chunk in chunks)
    assert rest.count("event: place\ndata: null\n\n") == 1, "the place is null once the run no longer waits"
    assert rest.index("data: null") < rest.index("question_asked") and rest.endswith(streaming.END)
    assert 'event: place\ndata: {"has_worker": true, "position": 1, "seconds": null}\n\n' in sent
