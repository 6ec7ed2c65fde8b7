"""The limits that a soak test checks."""

from __future__ import annotations

import pytest

from benchmarks.soak_table import (
    MOST_MB,
    Findings,
    Memory,
    TakeOver,
    broken,
    growth_from_the_20th,
    percentile,
)


def found(times=(10.0,) * 20, memory=(), **fields) -> Findings:
    """Return the findings of a soak without faults, except for `fields`."""
    findings = Findings(memory=[Memory(1, runs, size) for runs, size in memory], **fields)
    for each in times:
        findings.answered("home", each)
    findings.run_ended(5.0)
    findings.states["verdict"] += 1
    return findings


def test_a_faultless_soak_breaks_no_bound():
    assert broken(found(memory=[(10, 900.0), (20, 1000.0), (30, 1040.0)])) == []


@pytest.mark.parametrize(
    "findings",
    [
        found(times=()),
        found(times=[101.0] * 3),
        found(times=[10.0] * 18 + [400.0] * 2),
        found(memory=[(10, MOST_MB + 1)]),
        found(memory=[(20, 1000.0), (30, 1060.0), (40, 1000.0)]),
        found(error_lines=["2026 ERROR boom"]),
        found(take_over=TakeOver(1.0, 1.0, going_on=3, ended_with_verdict=2)),
        found(take_over=TakeOver(11.0, 1.0, going_on=0, ended_with_verdict=0)),
    ],
)
def test_each_broken_bound_is_reported_once(findings):
    assert len(broken(findings)) == 1


def test_request_errors_and_runs_without_a_verdict_break_a_bound():
    findings = found()
    findings.went_wrong("bad request", "status 500")
    findings.states["failed"] += 2
    assert broken(findings) == ["bad request: status 500, 1 times.", "2 runs ended as 'failed'."]


def test_memory_is_compared_with_the_20th_run_of_the_same_process():
    memory = [Memory(1, 10, 500.0), Memory(2, 10, 100.0), Memory(2, 20, 1000.0), Memory(2, 30, 1100.0)]
    assert growth_from_the_20th(memory, 1) is None
    assert growth_from_the_20th(memory, 2) == pytest.approx(1.1)


def test_a_percentile_is_a_measured_value():
    assert [percentile([4, 1, 3, 2], percent) for percent in (1, 50, 95, 100)] == [1, 2, 4, 4]
