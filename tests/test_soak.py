"""The limits that a soak test checks."""

from __future__ import annotations

import pytest

from benchmarks.soak_table import (
    MAX_MB,
    Findings,
    Memory,
    TakeOver,
    broken_bounds,
    growth_after_warm_up,
    percentile,
)

pytestmark = pytest.mark.slow


def found(times=(10.0,) * 20, memory=(), **fields) -> Findings:
    """Return the findings of a soak without faults, except for `fields`."""
    findings = Findings(memory=[Memory(1, runs, size) for runs, size in memory], **fields)
    for each in times:
        findings.record_time("home", each)
    findings.record_run(5.0)
    findings.states["verdict"] += 1
    return findings


def test_a_faultless_soak_breaks_no_bound():
    assert broken_bounds(found(memory=[(10, 900.0), (20, 1000.0), (30, 1040.0)])) == []


@pytest.mark.parametrize(
    "findings",
    [
        found(times=()),
        found(times=[101.0] * 3),
        found(times=[10.0] * 18 + [400.0] * 2),
        found(memory=[(10, MAX_MB + 1)]),
        found(memory=[(20, 1000.0), (30, 1060.0), (40, 1000.0)]),
        found(error_lines=["2026 ERROR boom"]),
        found(take_over=TakeOver(1.0, 1.0, interrupted_runs=3, verdicts=2)),
        found(take_over=TakeOver(11.0, 1.0, interrupted_runs=0, verdicts=0)),
    ],
)
def test_each_broken_bound_is_reported_once(findings):
    assert len(broken_bounds(findings)) == 1


def test_request_errors_and_runs_without_a_verdict_break_a_bound():
    findings = found()
    findings.record_error("bad request", "status 500")
    findings.states["failed"] += 2
    assert broken_bounds(findings) == ["bad request: status 500, 1 times.", "2 runs ended as 'failed'."]


def test_memory_is_compared_with_the_20th_run_of_the_same_process():
    memory = [Memory(1, 10, 500.0), Memory(2, 10, 100.0), Memory(2, 20, 1000.0), Memory(2, 30, 1100.0)]
    assert growth_after_warm_up(memory, 1) is None
    assert growth_after_warm_up(memory, 2) == pytest.approx(1.1)


def test_a_percentile_is_a_measured_value():
    assert [percentile([4, 1, 3, 2], percent) for percent in (1, 50, 75, 76, 95, 100)] == [1, 2, 3, 4, 4, 4]
