"""A call with a stored reply is not repeated, a failed call stores nothing, and a listener hears of both."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress

import pytest

from app.domain import instrumentation as progress
from app.domain.errors import CallFailed, UnparseableOutput
from app.domain.events import PhaseEntered, TokensUsed
from app.domain.instrumentation import Call, MemoryStore, cached_call, cached_if_readable, use_stores
from app.domain.model import Usage

CALL = Call("a model", {"prompt": "Who wrote Hamlet?", "stop": ["\n"]})


def test_without_a_store_every_call_is_made():
    replies = iter("ab")
    assert [cached_call(CALL, lambda: next(replies)) for _ in range(2)] == ["a", "b"]


def test_a_stored_reply_is_computed_once_and_counted_as_cached():
    replies, said = iter("ab"), []
    with progress.listening(said.append), use_stores(MemoryStore()):
        assert [cached_call(CALL, lambda: next(replies)) for _ in range(2)] == ["a", "a"]
    assert said == [TokensUsed(Usage(cached=1))]


def test_a_reply_from_a_later_store_is_copied_to_the_earlier_one():
    near, far = MemoryStore(), MemoryStore()
    far.put(CALL, "a")
    with use_stores(near, far):
        assert cached_call(CALL, pytest.fail) == "a"
    assert near.get(CALL) == "a"


def test_a_failed_call_is_made_again():
    store = MemoryStore()

    def fail():
        raise CallFailed("The line was cut.")

    with use_stores(store), pytest.raises(CallFailed):
        cached_call(CALL, fail)
    assert store.get(CALL) is None


@pytest.mark.parametrize("is_held", [False, True])
def test_a_reply_is_stored_before_its_cost_is_reported(is_held):
    """A process killed between the two would otherwise leave a counted call that is made again."""
    store, stored = MemoryStore(), []

    def compute() -> str:
        progress.report_usage(Usage(1, 10, 2))
        return "a"

    block = cached_if_readable() if is_held else nullcontext()
    with progress.listening(lambda _: stored.append(store.get(CALL))), use_stores(store), block:
        cached_call(CALL, compute)
    assert stored == ["a"]


def test_the_cost_of_a_call_that_fails_or_cannot_be_read_is_reported():
    heard = []

    def fail() -> str:
        progress.report_usage(Usage(1, 10, 2))
        raise CallFailed("The line was cut.")

    with progress.listening(heard.append), suppress(CallFailed):
        cached_call(CALL, fail)
    with progress.listening(heard.append), suppress(UnparseableOutput), cached_if_readable():
        progress.report_usage(Usage(1, 10, 2))
        raise UnparseableOutput("No label.")
    assert heard == [TokensUsed(Usage(1, 10, 2))] * 2


def test_a_lone_surrogate_in_a_request_is_accepted():
    assert Call("a model", {"prompt": "\ud83d"}).key != Call("a model", {"prompt": "\ud83e"}).key


def test_the_key_covers_the_whole_request_regardless_of_order():
    same = Call("a model", {"stop": ["\n"], "prompt": "Who wrote Hamlet?"})
    assert same.key == CALL.key
    others = [Call("another model", CALL.request), Call("a model", {**CALL.request, "seed": 1})]
    assert CALL.key not in {other.key for other in others}


def test_an_inner_listener_replaces_the_outer_one_until_it_ends():
    outer, inner = [], []
    with progress.listening(outer.append):
        with progress.listening(inner.append):
            progress.report_phase("inner")
        progress.report_phase("outer")
    assert (inner, outer) == ([PhaseEntered("inner")], [PhaseEntered("outer")])


def test_events_of_another_thread_are_not_received():
    heard = []
    with progress.listening(heard.append), ThreadPoolExecutor(1) as pool:
        pool.submit(progress.report_phase, "someone else's").result()
    assert heard == []
