"""The papers' tables: their rows, what each runs, and the papers' figures beside ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.model import LabelSet
from research.evaluation.evaluate import Order
from research.evaluation.paper_tables import TABLES, Outcome, as_markdown, order_of, run_table
from research.evaluation.reported import REPORTED, reported_for
from tests.fakes import scripted_container

HOVER = {"n": 3, "failed": 1, "by_hops": {"2": {"macro_f1": 0.5, "intervals": {"macro_f1": (0.4, 0.6)}}}}
AVERITEC = {
    "n": 9,
    "failed": 0,
    "accuracy": 0.4,
    "intervals": {"accuracy": None},
    "by_hops": {},
    "averitec": {"scores": {"0.25": 0.31}},
}


def order(form: str = "hover") -> Order:
    return Order(Path("f.jsonl"), form, Path("out"), limit=5, workers=2)


def cells(written: str, row: str) -> list[str]:
    (line,) = [line for line in written.splitlines() if line.startswith(f"| {row} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_reported_figure_belongs_to_a_table_row_and_names_its_source():
    names = {row.name for paper in TABLES.values() for row in paper.rows}
    assert {each.row for each in REPORTED} <= names and all(each.place for each in REPORTED)


def test_the_figures_of_qacheck_are_those_of_its_section_4():
    told = [reported_for("reciter-reader", column, "macro_f1") for column in ("2", "3", "4", "FEVEROUS")]
    assert [each.value for each in told if each] == [0.5567, 0.5467, 0.5235, 0.5947]


def test_rows_of_qacheck_decide_between_two_labels_and_have_a_folder_each():
    rows = {row.name: order_of(row, False, order()) for row in TABLES["qacheck-1"].rows if row.strategy}
    assert {each.labels for each in rows.values()} == {LabelSet.TWO}
    assert {each.out for each in rows.values()} == {Path("out") / name for name in rows}
    assert (rows["flan-t5"].preset, rows["flan-t5"].answerer, rows["flan-t5"].limit) == ("prompted", "flan-t5", 5)


def test_the_ablations_keep_all_rows_and_only_the_row_of_four_labels_has_four():
    paper = TABLES["papelo-2"]
    orders = {row.name: order_of(row, paper.whole, order("averitec")) for row in paper.rows}
    assert all(each.all_rows and each.strategy == "evidence-pursuit" for each in orders.values())
    assert {name for name, each in orders.items() if each.labels is not LabelSet.TWO} == {"four-class"}


def test_a_model_that_becomes_unavailable_ends_its_row_and_not_the_table():
    def run(order: Order) -> dict:
        raise ModelUnavailable("The reader is missing", "make setup")

    outcomes = run_table(TABLES["qacheck-1"], order(), scripted_container(), run)
    reasons = {each.row.name: each.reason for each in outcomes}
    assert reasons["local"] == "not run: The reader is missing. Fix it with: make setup"
    assert reasons["codex"] == "the paper's alone" and "FLAN-T5 is not installed." in reasons["flan-t5"]


def test_another_format_than_the_tables_is_refused():
    with pytest.raises(InvalidInput, match="for the formats hover and feverous"):
        run_table(TABLES["qacheck-1"], order("averitec"), scripted_container(), lambda order: {})


def test_our_figures_are_listed_beside_the_papers_with_intervals():
    rows = {row.name: row for row in TABLES["qacheck-1"].rows}
    outcomes = [Outcome(rows["reciter-reader"], HOVER), Outcome(rows["codex"], reason="the paper's alone")]
    written = as_markdown(TABLES["qacheck-1"], outcomes, "hover")
    title = rows["reciter-reader"].title
    assert cells(written, title)[1:] == ["3", "1", "0.500 (0.400 to 0.600)", "0.5567 (QACheck, section 4 and Table 1)"]
    assert cells(written, "Codex")[3:] == ["the paper's alone", "not looked up"]


def test_the_papers_columns_are_listed_for_rows_that_did_not_run():
    (row,) = [row for row in TABLES["qacheck-1"].rows if row.name == "reciter-reader"]
    written = as_markdown(TABLES["qacheck-1"], [Outcome(row, reason="not run: no model")], "hover")
    assert [cell[:6] for cell in cells(written, row.title)[4::2]] == ["0.5567", "0.5467", "0.5235"]


def test_a_figure_reported_as_a_difference_is_labelled_as_one():
    rows = {row.name: row for row in TABLES["papelo-2"].rows}
    outcomes = [Outcome(rows["paper"], AVERITEC), Outcome(rows["all-at-once"], AVERITEC)]
    written = as_markdown(TABLES["papelo-2"], outcomes, "averitec")
    assert cells(written, rows["paper"].title)[3:] == ["0.310", "0.5100 (Papelo, abstract)", "0.400", "not looked up"]
    assert "0.155 below the submitted system" in cells(written, rows["all-at-once"].title)[4]
