"""What many readers see alike is drawn once, and nobody is shown what is another's."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.web.drawn_once import Drawings
from tests.fakes import Gate, scripted_wiring
from tests.waiting import LONG
from tests.web.conftest import started
from tests.web.test_stream import read, swapped


def test_who_asks_while_it_is_drawn_waits_for_the_same_drawing():
    drawings, begun, may_end = Drawings(), threading.Event(), threading.Event()
    drawn = []

    def draw() -> str:
        begun.set()
        may_end.wait(LONG)
        drawn.append("a card")
        return drawn[-1]

    with ThreadPoolExecutor(5) as readers:
        first = readers.submit(drawings.once, "key", draw)
        begun.wait(LONG)
        others = [readers.submit(drawings.once, "key", draw) for _ in range(4)]
        may_end.set()
        assert [each.result(LONG) for each in (first, *others)] == ["a card"] * 5
    assert drawn == ["a card"]


def test_what_depends_on_something_else_is_drawn_anew():
    drawings = Drawings()
    assert [drawings.once(key, lambda key=key: f"drawn for {key}") for key in "aba"] == [
        "drawn for a",
        "drawn for b",
        "drawn for a",
    ]


def test_a_drawing_that_failed_is_tried_again():
    drawings = Drawings()
    with pytest.raises(ZeroDivisionError):
        drawings.once("key", lambda: 1 / 0)
    assert drawings.once("key", lambda: "a card") == "a card"


def test_the_oldest_make_room():
    drawings = Drawings(most=2)
    for key in "abc":
        drawings.once(key, lambda: "old")
    assert [drawings.once(key, lambda: "new") for key in "cba"] == ["old", "old", "new"]


def test_strangers_share_their_drawings_and_the_owner_alone_is_offered_to_steer(make_app):
    gate = Gate("answer 1")
    app = make_app(scripted_wiring(gate=gate))
    owner = app.test_client()
    path = started(owner)
    gate.reached.wait(LONG)
    with ThreadPoolExecutor(3) as readers:
        streams = [
            readers.submit(read, client, path, "?after=2") for client in (owner, app.test_client(), app.test_client())
        ]
        gate.open()
        own, *strange = [each.result(LONG) for each in streams]
    assert "csrf_token" in own and not any("csrf_token" in each for each in strange)
    assert all({"hop-1", "hop-2", "verdict"} <= set(swapped(each)) for each in (own, *strange))


def test_a_reader_who_wants_all_cards_open_does_not_get_those_of_another(make_app):
    app = make_app()
    path = started(app.test_client())
    read(app.test_client(), path)
    folded, unfolded = (read(app.test_client(), path, f"?after=0&cards={cards}") for cards in ("folded", "open"))
    assert folded.count("<details") == unfolded.count("<details") and folded.count(" open") < unfolded.count(" open")
