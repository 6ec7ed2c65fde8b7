"""How `make bench` computes its figures from measured times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.errors import HopcheckError
from benchmarks import bench, overhead, parity, two_at_once
from benchmarks.bench import Line

pytestmark = pytest.mark.slow


def test_a_failed_measurement_gives_its_reason_and_the_others_are_measured():
    def no_model():
        raise HopcheckError("The model is not there.")
        yield

    def well():
        yield Line("a page", "5 ms")

    measured = list(bench.lines((no_model, well)))
    assert measured == [Line("no model", "not measured: The model is not there."), Line("a page", "5 ms")]


def test_ratios_are_ratios_of_sums():
    assert overhead.Concurrency(single=1.5, p95=3.0).ratio == 2.0
    one, other = two_at_once.PairTimes((1.0, 3.0), (2.0, 4.0)), two_at_once.PairTimes((4.0, 4.0), (4.0, 8.0))
    assert (one.ratio, two_at_once.overall_ratio([one, other])) == (1.5, 1.5)


def test_concurrent_runs_are_executed_stored_and_followed_to_their_verdicts():
    with overhead.application(hops=2, seconds=0.0, workers=3) as app:
        assert len(overhead.concurrent_runs(app, 3)) == 3


def test_both_sides_of_the_comparison_with_qacheck_check_the_same_claim_from_the_same_server():
    assert parity.time_run(2, 0.0, parity.run_qacheck).calls == 5 * 2 + 1
    assert parity.time_run(2, 0.0, lambda model, story: parity.run_hopcheck(model, story, None)).calls >= 5 * 2 + 1


def test_a_scripted_run_that_keeps_other_hops_is_no_measurement():
    shorter = parity.story_with_hops(1)
    with pytest.raises(HopcheckError, match="kept 1 of 2 hops"):
        parity.time_run(
            1, 0.0, lambda model, story: parity.run_hopcheck(model, replace(shorter, hops=shorter.hops * 2), None)
        )
