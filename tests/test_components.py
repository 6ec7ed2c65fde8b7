"""Heavy parts load once, side by side, and one that cannot load harms no other."""

import threading

import pytest

from app.components import Component, Components, keep_warm
from app.domain.errors import ModelUnavailable
from tests.waiting import LONG


def fails(error):
    def load():
        raise error

    return load


def test_parts_wait_until_they_are_warmed_and_are_then_ready():
    parts = Components([("reader", lambda: None)])
    assert parts.all() == (Component("reader", "waiting"),)
    assert not parts.ready
    parts.warm()
    assert parts.all() == (Component("reader", "ready"),)
    assert parts.ready


def test_a_part_is_loaded_once_however_often_it_is_warmed():
    loads = []
    parts = Components([("reader", lambda: loads.append("reader"))])
    parts.warm()
    parts.warm()
    assert loads == ["reader"]


def test_parts_load_side_by_side():
    together = threading.Barrier(3, timeout=LONG)
    parts = Components([(name, together.wait) for name in ("generator", "corpus", "reader")])
    parts.warm()  # the barrier breaks, and the parts fail, when one does not come meanwhile
    assert parts.ready


@pytest.mark.parametrize(
    ("error", "message", "fix"),
    [
        (ModelUnavailable("The file is cut off", fix="make corpus"), "The file is cut off", "make corpus"),
        (RuntimeError("a secret"), "It could not be loaded (RuntimeError).", "make setup"),
    ],
)
def test_a_part_that_cannot_load_says_why_and_what_mends_it_and_the_others_load(error, message, fix):
    parts = Components([("corpus", fails(error)), ("reader", lambda: None)])
    parts.warm()
    broken, sound = parts.all()
    assert broken.state == "failed" and message in broken.message and broken.fix == fix
    assert sound.state == "ready"
    assert parts.first_failed("reader", "corpus") == broken
    assert parts.first_failed("reader") is None


def test_a_part_that_failed_is_tried_again_when_it_is_warmed_again():
    outcomes = [ModelUnavailable("not yet", fix="wait"), None]

    def load():
        if error := outcomes.pop(0):
            raise error

    parts = Components([("corpus", load)])
    parts.warm()
    parts.warm()
    assert parts.ready


def test_a_part_is_kept_trying_until_it_was_mended():
    tries = []

    def load():
        tries.append("reader")
        if len(tries) < 3:
            raise ModelUnavailable("The file is cut off", fix="make models")

    keep_warm(parts := Components([("reader", load), ("judge", lambda: None)]), every=0.01)
    assert parts.ready and len(tries) == 3


def test_the_same_failure_is_logged_once_however_often_it_is_met(caplog):
    parts = Components([("corpus", fails(ModelUnavailable("It is cut off", fix="make corpus")))])
    for _ in range(3):
        parts.warm()
    assert len(caplog.records) == 1
