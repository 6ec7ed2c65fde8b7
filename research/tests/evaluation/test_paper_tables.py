"""The papers' tables: their rows, what each runs, and the papers' figures beside ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.model import LabelSet
from research.evaluation.evaluate import EvaluationConfig
from research.evaluation.paper_tables import NOT_RUN_HERE, TABLES, Outcome, as_markdown, row_config, run_table
from research.evaluation.reported import REPORTED
from tests.fakes import scripted_container

HOVER = {"n": 3, "failed": 1, "by_hops": {"2": {"macro_f1": 0.5, "intervals": {"macro_f1": (0.4, 0.6)}}}}
AVERITEC = {
    "n": 9,
    "failed": 0,
    "accuracy": 0.4,
    "intervals": {"accuracy": None},
    "by_hops": {},
    "per_class": {"SUPPORTED": {"f1": 0.2}, "REFUTED": {"f1": 0.6}},
    "averitec": {"scores": {"0.25": 0.31}},
}


def config(form: str = "hover") -> EvaluationConfig:
    return EvaluationConfig(Path("f.jsonl"), form, Path("out"), limit=5, workers=2)


def rows_of(name: str) -> dict:
    return {row.name: row for row in TABLES[name].rows}


def cells(written: str, row: str) -> list[str]:
    (line,) = [line for line in written.splitlines() if line.startswith(f"| {row} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_reported_figure_belongs_to_a_row_of_its_table_and_stands_there_once():
    for each in REPORTED:
        assert each.row in rows_of(each.table)
    assert len({(each.table, each.row, each.column, each.measure) for each in REPORTED}) == len(REPORTED)


def test_rows_of_qacheck_decide_between_two_labels_and_have_a_folder_each():
    paper = TABLES["qacheck-1"]
    rows = {row.name: row_config(row, paper, config()) for row in paper.rows if row.strategy}
    assert {each.labels for each in rows.values()} == {LabelSet.TWO}
    assert {each.out for each in rows.values()} == {Path("out") / name for name in rows}
    assert (rows["flan-t5"].preset, rows["flan-t5"].answerer, rows["flan-t5"].limit) == ("qacheck", "flan-t5", 5)
    assert (rows["flan-t5-alone"].strategy, rows["flan-t5-alone"].model) == ("direct", "flan-t5")
    assert all(each.sentences for each in rows.values())


def test_the_ablations_keep_all_rows_and_only_the_row_of_four_labels_has_four():
    paper = TABLES["papelo-2"]
    orders = {row.name: row_config(row, paper, config("averitec")) for row in paper.rows}
    assert all(each.all_rows and each.strategy == "evidence-pursuit" for each in orders.values())
    assert {name for name, each in orders.items() if each.labels is not LabelSet.TWO} == {"four-class"}
    assert orders["llm+llm"].preset == "papelo"  # the preset llm+llm has Hopcheck's own prompts


def test_a_model_that_becomes_unavailable_ends_its_row_and_not_the_table():
    def run(config: EvaluationConfig) -> dict:
        raise ModelUnavailable("The reader is missing", "make setup")

    outcomes = run_table(TABLES["qacheck-1"], config(), scripted_container(), run)
    reasons = {each.row.name: each.reason for each in outcomes}
    assert reasons["local"] == "not run: The reader is missing. Fix it with: make setup"
    assert reasons["codex"] == NOT_RUN_HERE and reasons["flan-t5"].startswith("not run: ")


def test_another_format_than_the_tables_is_refused():
    with pytest.raises(InvalidInput, match="for the formats hover and feverous"):
        run_table(TABLES["qacheck-1"], config("averitec"), scripted_container(), lambda config: {})


def test_our_figures_are_listed_beside_the_papers_with_intervals():
    rows = rows_of("qacheck-1")
    outcomes = [Outcome(rows["reciter-reader"], HOVER), Outcome(rows["codex"], reason="no")]
    written = as_markdown(TABLES["qacheck-1"], outcomes, "hover")
    assert cells(written, rows["reciter-reader"].title)[1:] == ["3", "1", "0.500 (0.400 to 0.600)", "0.5567"]
    assert cells(written, "Codex")[3:] == ["no", "0.5557"]


def test_the_papers_columns_are_listed_for_rows_that_did_not_run():
    row = rows_of("qacheck-1")["reciter-reader"]
    written = as_markdown(TABLES["qacheck-1"], [Outcome(row, reason="not run: no model")], "hover")
    assert cells(written, row.title)[4::2] == ["0.5567", "0.5467", "0.5235"]


def test_the_full_sets_have_our_figures_of_one_and_the_papers_of_both():
    row = rows_of("papelo-3")["inflate-to-ten"]
    written = as_markdown(TABLES["papelo-3"], [Outcome(row, AVERITEC, note="run as papelo")], "averitec")
    found = cells(written, f"{row.title} (run as papelo)")
    assert found[3:6] == ["0.200", "0.698", "not reported"] and found[-3:] == ["0.310", "0.510", "0.477"]
