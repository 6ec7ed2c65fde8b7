"""Heavy components load once, in parallel, and a failing one does not affect the others."""

import threading

import pytest

from app.components import Component, Components, keep_warm, start_loading
from app.container.parts import open_corpora
from app.domain.errors import ModelUnavailable
from tests.waiting import LONG, until


def fails(error):
    def load():
        raise error

    return load


def test_components_are_ready_after_warming():
    parts = Components([("reader", lambda: None)])
    assert parts.all() == (Component("reader", "waiting"),)
    assert not parts.ready
    parts.warm()
    assert parts.all() == (Component("reader", "ready"),)
    assert parts.ready


def test_a_component_is_loaded_once_however_often_it_is_warmed():
    loads = []
    parts = Components([("reader", lambda: loads.append("reader"))])
    parts.warm()
    parts.warm()
    assert loads == ["reader"]


def test_components_load_in_parallel():
    together = threading.Barrier(3, timeout=LONG)
    parts = Components([(name, together.wait) for name in ("generator", "corpus", "reader")])
    parts.warm()  # the barrier breaks, and the components fail, unless both load at once
    assert parts.ready


@pytest.mark.parametrize(
    ("error", "message", "fix"),
    [
        (ModelUnavailable("The file is cut off", fix="make corpus"), "The file is cut off", "make corpus"),
        (RuntimeError("a secret"), "It could not be loaded (RuntimeError).", "make setup"),
    ],
)
def test_a_failed_component_has_a_reason_and_a_fix_and_the_others_load(error, message, fix):
    parts = Components([("corpus", fails(error)), ("reader", lambda: None)])
    parts.warm()
    broken, sound = parts.all()
    assert broken.state == "failed" and message in broken.message and broken.fix == fix
    assert sound.state == "ready"


def test_a_failed_component_is_retried_when_warmed_again():
    outcomes = [ModelUnavailable("not yet", fix="wait"), None]

    def load():
        if error := outcomes.pop(0):
            raise error

    parts = Components([("corpus", load)])
    parts.warm()
    parts.warm()
    assert parts.ready


def test_keep_warm_retries_a_component_until_it_loads():
    tries = []

    def load():
        tries.append("reader")
        if len(tries) < 3:
            raise ModelUnavailable("The file is cut off", fix="make models")

    keep_warm(parts := Components([("reader", load), ("judge", lambda: None)]), retry_seconds=0.01)
    assert parts.ready and len(tries) == 3


def test_a_repeated_failure_is_logged_once(caplog):
    parts = Components([("corpus", fails(ModelUnavailable("It is cut off", fix="make corpus")))])
    for _ in range(3):
        parts.warm()
    assert len(caplog.records) == 1


def test_each_corpus_is_opened_and_only_if_none_can_be_the_first_reason_is_raised():
    opened: list[str] = []

    def open_corpus(name: str) -> None:
        opened.append(name)
        if name.startswith("bad"):
            raise ModelUnavailable(f"{name} is damaged", fix="make corpus")

    open_corpora(["bad", "good", "worse"], open_corpus)
    assert opened == ["bad", "good", "worse"]
    with pytest.raises(ModelUnavailable, match="bad 1 is damaged"):
        open_corpora(["bad 1", "bad 2"], open_corpus)


def test_loading_may_begin_later_and_a_failure_harms_nothing():
    loaded: list[str] = []
    start_loading([fails(OSError("cut off")), lambda: loaded.append("later")], after=0.2)
    start_loading([lambda: loaded.append("now")])
    until(lambda: loaded == ["now", "later"])
