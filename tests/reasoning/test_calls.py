"""A call that is remembered is not made again, and a call that failed is not remembered."""

import pytest

from app.domain import progress
from app.domain.calls import Call, remembered, remembering
from app.domain.errors import CallFailed
from app.domain.events import TokensUsed
from app.domain.model import Usage

CALL = Call("a model", {"prompt": "Who wrote Hamlet?", "stop": ["\n"]})


class Kept(dict):
    """A Memory that is a dictionary."""

    def recall(self, call):
        return self.get(call.key)

    def keep(self, call, reply):
        self[call.key] = reply


def test_without_a_memory_every_call_is_made():
    replies = iter("ab")
    assert [remembered(CALL, lambda: next(replies)) for _ in range(2)] == ["a", "b"]


def test_what_a_memory_keeps_is_computed_once_and_counted_as_cached():
    replies, said = iter("ab"), []
    with progress.listening(said.append), remembering(Kept()):
        assert [remembered(CALL, lambda: next(replies)) for _ in range(2)] == ["a", "a"]
    assert said == [TokensUsed(Usage(cached=1))]


def test_what_the_farther_memory_knows_the_nearer_one_learns():
    near, far = Kept(), Kept({CALL.key: "a"})
    with remembering(near, far):
        assert remembered(CALL, pytest.fail) == "a"
    assert near == far


def test_a_call_that_failed_is_made_again():
    memory = Kept()

    def fail():
        raise CallFailed("The line was cut.")

    with remembering(memory), pytest.raises(CallFailed):
        remembered(CALL, fail)
    assert not memory


def test_half_a_character_in_a_request_is_no_reason_to_fail():
    assert Call("a model", {"prompt": "\ud83d"}).key != Call("a model", {"prompt": "\ud83e"}).key


def test_the_key_is_the_whole_request_and_not_its_order():
    same = Call("a model", {"stop": ["\n"], "prompt": "Who wrote Hamlet?"})
    assert same.key == CALL.key
    others = [Call("another model", CALL.request), Call("a model", {**CALL.request, "seed": 1})]
    assert CALL.key not in {other.key for other in others}
