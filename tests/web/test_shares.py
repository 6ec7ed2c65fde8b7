"""However much one address sends, half of the room for runs that wait is left to others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.runs.service import TooManyWaiting
from app.web.shares import Shares
from tests.fakes import Gate, scripted_wiring
from tests.waiting import LONG
from tests.web.conftest import send, wait_for
from tests.web.test_limits import from_address

OWN = "Too many of your checks wait for their turn already."


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Holds every run before its first answer until the test ends."""
    gate = Gate("answer 1")
    yield gate
    gate.open()


@pytest.fixture
def full(make_app, gate):
    """An application that works on one run and has room for four more, and an address that sent as much as it may."""
    app = make_app(scripted_wiring(gate=gate), workers=1, max_waiting=4)
    greedy = from_address(app, "192.0.2.1")
    assert send(greedy).status_code == 303 and gate.reached.wait(LONG)
    assert [send(greedy).status_code for _ in range(2)] == [303, 303]
    return app, greedy


def test_one_address_fills_half_of_the_room_and_its_claim_is_kept(full):
    _, greedy = full
    answer = send(greedy, "One more claim.")
    assert answer.status_code == 429 and answer.headers["Retry-After"] == "30"
    assert OWN in answer.text and "One more claim.</textarea>" in answer.text


def test_the_other_half_is_for_others(full):
    app, greedy = full
    for number in (2, 3):
        assert send(from_address(app, f"192.0.2.{number}")).status_code == 303
    assert "Too many checks wait" in send(from_address(app, "192.0.2.4")).text
    assert OWN in send(greedy).text


def test_a_program_is_told_the_same(full):
    _, greedy = full
    answer = greedy.post("/api/v1/runs", json={"claim": "Hamlet is a play."})
    assert answer.status_code == 429 and answer.json["detail"].startswith(OWN)


def test_what_is_worked_on_takes_no_room_any_more(full, gate):
    _, greedy = full
    gate.open()
    path = send(greedy).location or "/"
    while path == "/":  # until the first of those that wait has its turn
        path = send(greedy).location or "/"
    wait_for(greedy, path, 'id="verdict-heading"')


def test_a_form_that_is_refused_takes_no_room(make_app, gate):
    client = make_app(scripted_wiring(gate=gate), workers=1, max_waiting=2).test_client()
    assert send(client).status_code == 303 and gate.reached.wait(LONG)
    assert [send(client, "").status_code for _ in range(3)] == [422] * 3
    assert send(client).status_code == 303


def test_those_who_come_at_the_same_moment_share_too():
    shares = Shares(2)
    for _ in range(2):
        shares.come("one", tuple)
    with pytest.raises(TooManyWaiting):
        shares.come("one", tuple)
    shares.come("another", tuple)
    shares.go("one", None)
    shares.come("one", tuple)


def test_nothing_is_kept_of_those_whose_runs_wait_no_more():
    shares = Shares(2)
    shares.come("one", tuple)
    shares.go("one", "run")
    assert (shares._begun, shares._coming) == ({"run": "one"}, {})
    shares.come("another", tuple)
    assert shares._begun == {}
