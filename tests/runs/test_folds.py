"""A report that is asked for again is the same as one that is folded from its beginning, and costs only what is new."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.reasoning.events import PhaseEntered, QuestionAsked, RunInterrupted, RunStarted
from app.reasoning.report import fold
from app.reasoning.types import Claim, Question, RunOptions
from app.runs.event_store import StoredEvent
from app.runs.folds import Folds

HAPPENED = (
    RunStarted(Claim("Hamlet is a play."), RunOptions()),
    PhaseEntered("asking"),
    QuestionAsked(1, Question("Who wrote Hamlet?")),
    PhaseEntered("reading"),
)
NOW = datetime.now(UTC)


class Log:
    """An event log of one run in memory; `read_from` are the numbers behind which was read."""

    def __init__(self, count: int) -> None:
        self.events = [StoredEvent(seq, seq / 10, event) for seq, event in enumerate(HAPPENED, 1)][:count]
        self.read_from: list[int] = []

    def read(self, run_id: str, after: int = 0) -> tuple[StoredEvent, ...]:
        self.read_from.append(after)
        return tuple(self.events[after:])


@pytest.mark.parametrize("earlier", [1, 2, 3, 4])
def test_a_report_that_grew_is_the_one_that_is_folded_at_once(earlier):
    log = Log(earlier)
    folds = Folds(log)
    folds.of("r", NOW, earlier)
    log.events = Log(4).events
    assert folds.of("r", NOW, 4) == (4, fold((each.event, each.seconds) for each in log.events))
    assert log.read_from == ([0] if earlier == 4 else [0, earlier])


def test_a_run_of_the_same_name_that_was_stored_later_is_another():
    log = Log(4)
    folds = Folds(log)
    folds.of("r", NOW, 4)
    log.events = log.events[:2]
    assert folds.of("r", datetime.now(UTC), 2).last_seq == 2


def test_a_run_without_events_is_none():
    assert Folds(Log(0)).of("r", NOW, 0) is None


def test_those_that_nobody_asked_for_longest_make_room():
    log = Log(2)
    folds = Folds(log, most=2)
    for run_id in ("a", "b", "a", "c", "a", "b"):
        folds.of(run_id, NOW, 2)
    assert log.read_from == [0, 0, 0, 0]  # a, b, c, and b again


def test_the_report_of_a_run_that_has_ended_is_not_kept():
    log = Log(4)
    log.events.append(StoredEvent(5, 1.0, RunInterrupted("Stopped.")))
    folds = Folds(log)
    assert folds.of("r", NOW, 5) == folds.of("r", NOW, 5) and log.read_from == [0, 0]
