"""A cached report equals the one computed from all events, and only new events are read for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.events import PhaseEntered, QuestionAsked, RunInterrupted, RunStarted
from app.domain.model import Claim, Question, RunOptions
from app.domain.report import reduce_events
from app.runs.event_store import StoredEvent
from app.runs.projections import ReportCache

HAPPENED = (
    RunStarted(Claim("Hamlet is a play."), RunOptions()),
    PhaseEntered("asking"),
    QuestionAsked(1, Question("Who wrote Hamlet?")),
    PhaseEntered("reading"),
)
NOW = datetime.now(UTC)


class Log:
    """An event store of one run in memory; `read_from` holds the `after` of each read."""

    def __init__(self, count: int) -> None:
        self.events = [StoredEvent(seq, seq / 10, event) for seq, event in enumerate(HAPPENED, 1)][:count]
        self.read_from: list[int] = []

    def read(self, run_id: str, after: int = 0) -> tuple[StoredEvent, ...]:
        self.read_from.append(after)
        return tuple(self.events[after:])


@pytest.mark.parametrize("earlier", [1, 2, 3, 4])
def test_a_report_advanced_by_new_events_equals_one_computed_at_once(earlier):
    log = Log(earlier)
    reports = ReportCache(log)
    reports.get("r", NOW, earlier)
    log.events = Log(4).events
    assert reports.get("r", NOW, 4) == (4, reduce_events((each.event, each.seconds) for each in log.events))
    assert log.read_from == ([0] if earlier == 4 else [0, earlier])


def test_a_new_run_with_the_id_of_a_deleted_one_has_its_own_report():
    log = Log(4)
    reports = ReportCache(log)
    reports.get("r", NOW, 4)
    log.events = log.events[:2]
    assert reports.get("r", datetime.now(UTC), 2).last_seq == 2


def test_the_least_recently_used_reports_are_dropped():
    log = Log(2)
    reports = ReportCache(log, max_reports=2)
    for run_id in ("a", "b", "a", "c", "a", "b"):
        reports.get(run_id, NOW, 2)
    assert log.read_from == [0, 0, 0, 0]  # a, b, c, and b again


def test_the_report_of_an_ended_run_is_not_cached():
    log = Log(4)
    log.events.append(StoredEvent(5, 1.0, RunInterrupted("Stopped.")))
    reports = ReportCache(log)
    assert reports.get("r", NOW, 5) == reports.get("r", NOW, 5) and log.read_from == [0, 0]
