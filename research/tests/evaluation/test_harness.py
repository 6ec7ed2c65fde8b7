"""Rows are predicted once each despite interruptions, and the figures equal values computed by hand."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace

import pytest

from app.domain.errors import CallFailed, InvalidInput, ModelUnavailable
from app.domain.model import Label, LabelSet
from research.evaluation.harness import RowResult, predict, select_rows
from research.evaluation.labels import Gold
from research.evaluation.predictions import NOTHING_SPENT, EvidencePair, Prediction, Predictions, ResourceUse
from research.evaluation.report import compute_figures
from research.tests.evaluation.rows import row
from tests.limits import no_room_for
from tests.waiting import LONG

S, R, N = Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE
ROWS = [row(1, Gold.SUPPORTED, 2), row(2, Gold.NOT_SUPPORTED, 2), row(3, Gold.SUPPORTED, 3), row(4, Gold.NOT_SUPPORTED)]
ABOUT = {"data": "d1", "labels": "three"}


class ScriptedJudge:
    """Returns SUPPORTED for every row, fails on those in `failing`, and records the rows it was asked about."""

    def __init__(self, **failing: BaseException) -> None:
        self.failing = failing
        self.asked: list[str] = []

    def __call__(self, row):
        self.asked.append(row.id)
        if row.id in self.failing:
            raise self.failing[row.id]
        return RowResult(S, 0.9, 0.8)


def run(folder, judge, rows=ROWS, about=ABOUT, workers=1) -> list[Prediction]:
    with Predictions(folder, about) as predictions:
        return list(predict(rows, judge, predictions, workers))


def test_a_second_run_predicts_only_missing_rows(tmp_path):
    run(tmp_path, ScriptedJudge(), ROWS[:2])
    judge = ScriptedJudge()
    again = run(tmp_path, judge)
    assert judge.asked == ["r3", "r4"]
    assert replace(again[0], spent=NOTHING_SPENT) == Prediction("r1", "SUPPORTED", S, 0.9, 0.8)
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == 4


def test_a_failed_prediction_is_retried_by_the_next_run(tmp_path):
    first = run(tmp_path, ScriptedJudge(r2=CallFailed("It took too long.")))
    assert (first[1].id, first[1].label, first[1].problem) == ("r2", None, "It took too long.")
    judge = ScriptedJudge()
    assert run(tmp_path, judge)[1].label is S
    assert judge.asked == ["r2"]
    assert run(tmp_path, ScriptedJudge())[1].label is S


def test_a_missing_judge_ends_the_run_and_keeps_earlier_predictions(tmp_path):
    with pytest.raises(ModelUnavailable):
        run(tmp_path, ScriptedJudge(r3=ModelUnavailable("Gone", "make setup")))
    assert len((tmp_path / "predictions.jsonl").read_text().splitlines()) == 2


def test_rows_are_predicted_in_parallel_and_returned_in_order(tmp_path):
    both = threading.Barrier(2, timeout=LONG)

    def judge(row):
        if row.id in ("r1", "r2"):
            both.wait()  # passes when two threads have arrived
        return RowResult(S)

    assert [each.id for each in run(tmp_path, judge, workers=2)] == ["r1", "r2", "r3", "r4"]
    with Predictions(tmp_path, ABOUT) as kept:
        assert sorted(kept.made) == ["r1", "r2", "r3", "r4"]


def test_many_threads_write_whole_lines(tmp_path):
    rows = [row(number, Gold.SUPPORTED) for number in range(200)]
    run(tmp_path, lambda row: RowResult(S, evidence=(EvidencePair("Who?", "Ada " * 50),)), rows, workers=8)
    with Predictions(tmp_path, ABOUT) as kept:
        assert sorted(kept.made) == sorted(row.id for row in rows)


def test_a_fatal_error_in_any_thread_is_raised(tmp_path):
    with pytest.raises(ModelUnavailable):
        run(tmp_path, ScriptedJudge(r4=ModelUnavailable("Gone", "make setup")), workers=4)


def test_an_unexpected_error_is_a_failed_prediction_without_its_message(tmp_path, caplog):
    caplog.set_level("ERROR")
    found = run(tmp_path, ScriptedJudge(r2=RuntimeError("with a secret")))
    assert (found[1].label, found[1].problem) == (None, "It broke off unexpectedly (RuntimeError).")
    assert [each.label for each in found] == [S, None, S, S] and "Row r2 failed unexpectedly" in caplog.text


def test_failures_on_every_tenth_call_are_counted_named_and_kept_in_the_denominator(tmp_path):
    rows = [row(number, Gold.SUPPORTED) for number in range(100)]
    calls = itertools.count(1)

    def judge(row):
        if next(calls) % 10 == 0:
            raise CallFailed("The model did not answer.")
        return RowResult(S)

    found = run(tmp_path, judge, rows, workers=3)
    figures = compute_figures(rows, found, LabelSet.TWO)
    assert (figures["n"], figures["failed"], figures["accuracy"]) == (100, 10, 0.9)
    assert figures["problems"] == {"The model did not answer.": 10}
    assert figures["confusion"] == {"SUPPORTED": {"SUPPORTED": 90, "failed": 10}}


def test_a_full_disk_is_reported_and_leaves_whole_lines_to_resume_from(tmp_path):
    with Predictions(tmp_path, ABOUT) as predictions:
        predictions.add(Prediction("r1", "SUPPORTED", S))
        size = predictions.path.stat().st_size
        with no_room_for(size + 20), pytest.raises(OSError) as caught:
            predictions.add(Prediction("r2", "SUPPORTED", S))
    assert caught.value.filename == str(predictions.path) and predictions.path.stat().st_size == size
    judge = ScriptedJudge()
    assert len(run(tmp_path, judge)) == 4 and judge.asked == ["r2", "r3", "r4"]


def test_a_prediction_is_read_back_completely(tmp_path):
    spent = ResourceUse(1.5, 3, 100, 20, 0.01)
    whole = Prediction(
        "r1", "SUPPORTED", S, 0.9, None, None, (EvidencePair("Who?", "Ada"),), ("Ada",), ("One failed.",), spent
    )
    with Predictions(tmp_path, ABOUT) as predictions:
        predictions.add(whole)
    with Predictions(tmp_path, ABOUT) as kept:
        assert kept.made == {"r1": whole}


def test_a_truncated_line_is_predicted_again(tmp_path):
    run(tmp_path, ScriptedJudge())
    file = tmp_path / "predictions.jsonl"
    file.write_bytes(file.read_bytes()[:-9])
    judge = ScriptedJudge()
    run(tmp_path, judge)
    assert judge.asked == ["r4"]
    with Predictions(tmp_path, ABOUT) as kept:
        assert list(kept.made) == ["r1", "r2", "r3", "r4"]


def test_predictions_of_another_configuration_are_refused(tmp_path):
    run(tmp_path, ScriptedJudge())
    with pytest.raises(InvalidInput, match=r"another evaluation \(what differs: data\)"):
        run(tmp_path, ScriptedJudge(), about=ABOUT | {"data": "d2"})
    (tmp_path / "evaluation.json").write_text("[")
    with pytest.raises(InvalidInput, match="what differs: data, labels"):
        run(tmp_path, ScriptedJudge())


@pytest.mark.parametrize("line", ["no json", '{"claim": 1}', '["r1"]', '{"id": "r1", "gold": "S", "label": "MAYBE"}'])
def test_a_line_that_is_not_a_prediction_is_reported(tmp_path, line):
    run(tmp_path, ScriptedJudge(), ROWS[:1])
    with (tmp_path / "predictions.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InvalidInput, match="line 2: no prediction; move the file away"):
        run(tmp_path, ScriptedJudge())


def test_unpredictable_rows_are_kept_on_request_and_count_as_wrong():
    rows = [row(1, Gold.CONFLICTING_EVIDENCE), row(2, Gold.SUPPORTED)]
    kept, left_out = select_rows(rows, LabelSet.TWO, 7, None, all_rows=True)
    assert (len(kept), left_out) == (2, {})
    figures = compute_figures(rows, predicted((S, None), (S, None)), LabelSet.TWO)
    assert figures["accuracy"] == 0.5 and figures["per_class"]["CONFLICTING_EVIDENCE"]["f1"] == 0


def test_a_larger_sample_contains_the_smaller_one_and_another_seed_differs():
    rows = [row(number, Gold.SUPPORTED) for number in range(50)]
    few, _ = select_rows(rows, LabelSet.THREE, 7, 10)
    more, _ = select_rows(rows, LabelSet.THREE, 7, 20)
    other, _ = select_rows(rows, LabelSet.THREE, 8, 10)
    assert few == more[:10] != other
    assert len(set(more)) == 20


def test_the_sample_per_hop_count_is_the_first_rows_after_shuffling():
    rows = [row(number, Gold.SUPPORTED, 2 + number % 3 // 2) for number in range(60)]
    all_of_them, _ = select_rows(rows, LabelSet.THREE, 7, None)
    kept, _ = select_rows(rows, LabelSet.THREE, 7, None, per_hops=5)
    for hops in (2, 3):
        assert [each for each in kept if each.hops == hops] == [each for each in all_of_them if each.hops == hops][:5]
    assert select_rows(rows, LabelSet.THREE, 7, 3, per_hops=5)[0] == kept[:3]


def test_rows_without_a_possible_label_or_evidence_are_left_out_and_counted():
    conflict, unsure = row(1, Gold.CONFLICTING_EVIDENCE), row(2, Gold.NOT_ENOUGH_EVIDENCE)
    bare = type(conflict)("r3", "Claim 3.", Gold.SUPPORTED)
    rows = [conflict, unsure, bare, row(4, Gold.REFUTED)]
    assert select_rows(rows, LabelSet.THREE, 7, None)[1] == {"CONFLICTING_EVIDENCE": 1, "no gold evidence": 1}
    kept, left_out = select_rows(rows, LabelSet.TWO, 7, None)
    assert left_out == {"CONFLICTING_EVIDENCE": 1, "NOT_ENOUGH_EVIDENCE": 1, "no gold evidence": 1}
    assert [each.id for each in kept] == ["r4"]


def predicted(*outcomes: tuple[Label | None, float | None]) -> list[Prediction]:
    return [Prediction(f"r{at}", "", label, 0.9, score) for at, (label, score) in enumerate(outcomes, 1)]


def without_intervals(found: dict) -> tuple:
    return tuple(found[name] for name in ("n", "failed", "accuracy", "macro_f1", "auc"))


def test_hover_metrics_equal_values_computed_by_hand():
    figures = compute_figures(ROWS, predicted((S, 0.9), (N, 0.2), (R, 0.3), (S, 0.6)), LabelSet.THREE)
    assert (figures["n"], figures["failed"], figures["accuracy"]) == (4, 0, 0.5)
    assert figures["macro_f1"] == 0.5  # each class: one true positive, one false negative, one false positive
    assert figures["auc"] == 0.75  # of 0.9 and 0.3 against 0.2 and 0.6, only 0.3 < 0.6 is in the wrong order
    assert figures["per_class"]["NOT_SUPPORTED"] == {"n": 2, "precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert list(figures["by_hops"]) == ["2", "3"]
    assert without_intervals(figures["by_hops"]["2"]) == (2, 0, 1.0, 1.0, 1.0)
    assert without_intervals(figures["by_hops"]["3"]) == (1, 0, 0.0, 0.0, None)


def test_metrics_of_three_labels_equal_values_computed_by_hand():
    rows = [row(1, Gold.SUPPORTED), row(2, Gold.REFUTED), row(3, Gold.REFUTED), row(4, Gold.NOT_ENOUGH_EVIDENCE)]
    figures = compute_figures(rows, predicted((S, 0.9), (R, 0.1), (N, 0.2), (N, 0.3)), LabelSet.THREE)
    assert figures["accuracy"] == 0.75
    assert figures["macro_f1"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert figures["per_class"]["REFUTED"] == {"n": 2, "precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3)}
    assert figures["auc"] == 1.0 and figures["by_hops"] == {}


def test_failed_predictions_stay_in_the_denominator_of_every_metric():
    figures = compute_figures(ROWS, predicted((S, 0.9), (N, 0.2), (None, None), (None, None)), LabelSet.THREE)
    assert (figures["failed"], figures["accuracy"]) == (2, 0.5)
    assert figures["per_class"]["SUPPORTED"] == {"n": 2, "precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3)}
    assert figures["auc"] == 0.25  # only 0.9 against 0.2 is in the right order


def test_without_probabilities_there_is_no_auc():
    assert compute_figures(ROWS, predicted((S, None), (R, None), (S, None), (R, None)), LabelSet.THREE)["auc"] is None
