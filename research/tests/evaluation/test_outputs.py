"""The outputs beside the predictions: table, plots, submission and manifest."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from app.domain.model import Label, LabelSet
from research.evaluation.datasets import Row
from research.evaluation.harness import manifest
from research.evaluation.labels import Gold
from research.evaluation.outputs import Evaluation, write_outputs
from research.evaluation.predictions import EvidencePair, Prediction, ResourceUse
from research.evaluation.report import format_share, markdown_table
from research.tests.evaluation.rows import row

S, R = Label.SUPPORTED, Label.REFUTED


def hover_evaluation() -> Evaluation:
    rows = [
        row(1, Gold.SUPPORTED, 2),
        row(2, Gold.NOT_SUPPORTED, 2),
        row(3, Gold.SUPPORTED, 3),
        row(4, Gold.SUPPORTED, 3),
    ]
    found = [
        Prediction("r1", "SUPPORTED", S, 0.9, pages=("Title",), spent=ResourceUse(2.0, 3, 100, 10, 0.5)),
        Prediction("r2", "NOT_SUPPORTED", S, 0.6, pages=("Other",), spent=ResourceUse(4.0)),
        Prediction("r3", "SUPPORTED", problem="It took too long."),
        Prediction("r4", "SUPPORTED", S, 0.7, pages=("Title",)),
    ]
    return Evaluation(rows, found, LabelSet.TWO, 7, {"judge": "one"}, {"limit": 4})


def drawn_text(path) -> str:
    """Return all text in an SVG; raise when it is invalid."""
    return " ".join("".join(each.itertext()).strip() for each in ElementTree.parse(path).getroot())


def test_failed_rows_are_in_the_table_and_in_the_matrix(tmp_path):
    write_outputs(hover_evaluation(), tmp_path, workers=2)
    text = (tmp_path / "table.md").read_text()
    assert "| all | 4 | 1 | 0.500" in text and "| 3-hop | 2 | 1 | 0.500" in text
    assert "failed" in drawn_text(tmp_path / "confusion.svg")


def test_wrong_rows_are_listed_in_full_with_the_missed_gold_pages(tmp_path):
    write_outputs(hover_evaluation(), tmp_path, workers=1)
    text = (tmp_path / "mistakes.md").read_text()
    assert text.startswith("# 2 of 2 rows that are wrong") and "## r1" not in text
    assert (
        "gold label NOT_SUPPORTED, predicted SUPPORTED (0.60)" in text and "- gold pages not retrieved: Title" in text
    )
    assert "gold label SUPPORTED, failed: It took too long." in text


def test_the_risk_curve_ranks_a_failed_row_as_least_confident(tmp_path):
    evaluation = hover_evaluation()
    # By confidence: 0.9 right, 0.7 right, 0.6 wrong, failed. No error in the first half, two in all.
    assert evaluation.risk[4] == (0.5, 0) and evaluation.risk[-1] == (1, 0.5)
    write_outputs(evaluation, tmp_path, workers=1)
    assert "coverage" in drawn_text(tmp_path / "risk.svg")
    assert json.loads((tmp_path / "metrics.json").read_text())["risk_against_coverage"][-1] == [1, 0.5]


def test_without_confidence_there_is_no_risk_curve(tmp_path):
    rows = [row(1, Gold.SUPPORTED)]
    write_outputs(Evaluation(rows, [Prediction("r1", "SUPPORTED", S)], LabelSet.TWO, 7), tmp_path, 1)
    assert not (tmp_path / "risk.svg").exists() and (tmp_path / "confusion.svg").exists()


def test_the_same_metrics_give_identical_plots(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_outputs(hover_evaluation(), tmp_path / name, 1)
    for plot in ("confusion.svg", "risk.svg"):
        assert (tmp_path / "one" / plot).read_bytes() == (tmp_path / "two" / plot).read_bytes()


def test_averitec_gets_its_score_and_a_submission_with_every_row(tmp_path):
    asked = (("Who painted it?", ("Ada Stone painted it.",)),)
    rows = [
        Row("averitec-dev-3", "Ada painted it.", Gold.SUPPORTED, scored_questions=asked),
        Row("averitec-dev-4", "No.", Gold.REFUTED),
    ]
    pair = EvidencePair("Who painted it?", "Ada Stone painted it.", "https://a.example", "Ada Stone painted it.")
    found = [
        Prediction("averitec-dev-3", "SUPPORTED", S, evidence=(pair,), pages=("",)),
        Prediction("averitec-dev-4", ""),
    ]
    write_outputs(Evaluation(rows, found, LabelSet.FOUR, 7), tmp_path, 1)
    scores = json.loads((tmp_path / "metrics.json").read_text())["averitec"]
    # The pair is word for word the gold one, so its METEOR is near 1; of two claims one scores, at every level.
    assert scores["pairs"] == pytest.approx(0.5, abs=0.01) and set(scores["scores"].values()) == {0.5}
    handed_in = json.loads((tmp_path / "submission.json").read_text())
    assert [(each["claim_id"], each["pred_label"]) for each in handed_in] == [(3, "Supported"), (4, "")]
    assert "AVeriTeC at 0.25" in (tmp_path / "table.md").read_text()


def test_gold_evidence_of_averitec_is_not_scored_as_retrieved(tmp_path):
    rows = [Row("a1", "Ada.", Gold.SUPPORTED, scored_questions=(("Who?", ("Ada.",)),))]
    write_outputs(Evaluation(rows, [Prediction("a1", "SUPPORTED", S)], LabelSet.TWO, 7), tmp_path, 1)
    assert "averitec" not in json.loads((tmp_path / "metrics.json").read_text())
    assert not (tmp_path / "submission.json").exists()


def test_the_manifest_records_duration_machine_and_code_version():
    written = manifest({"judge": "one"}, hover_evaluation().predictions, workers=2)
    assert written["spent"] == {
        "seconds": 6.0, "calls": 3, "prompt_tokens": 100, "completion_tokens": 10, "cost": 0.5
    }  # fmt: skip
    assert (written["judge"], written["workers"], written["row_seconds"]) == ("one", 2, 1.5)
    assert written["code"] and written["hardware"]["cores"] and written["packages"]["scipy"]


def test_pipes_and_line_breaks_do_not_break_a_table():
    assert markdown_table(("a", "b"), [("x|y", "one\ntwo")]) == "| a | b |\n| ---|--- |\n| x/y | one two |\n"
    assert (format_share(None), format_share(0.5), format_share(0.5, (0.4, 0.6))) == (
        "none",
        "0.500",
        "0.500 (0.400 to 0.600)",
    )
