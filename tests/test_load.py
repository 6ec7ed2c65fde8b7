"""How the load test computes delays, lost and duplicate events, and memory growth."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.load.browser import Browser, StreamRecord
from benchmarks.load.stream_metrics import Sample, count_duplicates, count_lost, delays, growth

pytestmark = pytest.mark.slow

STORED_AT = {1: 10.0, 2: 11.0, 3: 11.1, 4: 12.0}


def arrived(*messages: tuple[int, float], after: int = 1, requested: float = 10.5) -> StreamRecord:
    return StreamRecord("r", after, requested, list(messages), 200, True)


def test_a_message_covers_all_events_up_to_its_number_each_with_its_own_delay():
    assert list(delays(arrived((3, 11.2), (4, 12.5)), STORED_AT)) == pytest.approx([200, 100, 500])


def test_the_delay_of_an_earlier_event_counts_from_the_readers_request():
    assert list(delays(arrived((1, 10.75), after=0), STORED_AT)) == pytest.approx([250])


def test_a_duplicate_message_is_counted_and_has_no_delay():
    again = arrived((3, 11.2), (3, 11.3), (2, 11.3), (4, 12.0))
    assert count_duplicates(again) == 2 and len(list(delays(again, STORED_AT))) == 3


def test_a_page_reader_has_lost_the_events_after_its_last_message():
    assert [count_lost(arrived(*messages), 4, one_by_one=False) for messages in [((4, 12.0),), ((2, 11.0),), ()]] == [
        0,
        2,
        3,
    ]


def test_an_api_client_has_lost_each_event_without_a_message():
    assert count_lost(arrived((2, 11.0), (4, 12.0), after=0), 4, one_by_one=True) == 2


def test_memory_growth_compares_start_and_end_and_is_unknown_for_short_loads():
    samples = [Sample(second, 100.0 if second < 300 else 110.0) for second in range(10, 601, 10)]
    assert growth(samples) == pytest.approx(1.1)
    assert growth(samples[:20]) is None and growth([]) is None


def test_a_stream_is_parsed_into_messages_wherever_the_network_splits_it():
    """Against a test server that sends the bytes of three messages in pieces."""
    sent = (
        b"HTTP/1.0 200 OK\r\n\r\nretry: 2000\n\nid: 3\nevent: update\ndata: id: 9\n\nid: 12\nevent: update\ndata: x\n\n"
    )
    arrivals = StreamRecord("r", 2, 0.0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for at in range(0, len(sent), 7):
            writer.write(sent[at : at + 7])
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(b"event: end\ndata: end\n\n")
        writer.close()

    async def follow() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            await Browser("127.0.0.1", server.sockets[0].getsockname()[1]).follow("/events", arrivals)

    asyncio.run(follow())
    assert [number for number, _ in arrivals.messages] == [3, 12] and arrivals.status == 200 and arrivals.ended
