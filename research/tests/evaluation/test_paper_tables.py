"""The papers' tables: their rows and what each runs (test_papers_reproduced.py: the figures)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.model import LabelSet
from research.evaluation.evaluate import EvaluationConfig
from research.evaluation.paper_tables import NOT_RUN_HERE, TABLES, row_config, run_table
from research.evaluation.reported import REPORTED
from tests.fakes import scripted_container


def config(form: str = "hover") -> EvaluationConfig:
    return EvaluationConfig(Path("f.jsonl"), form, Path("out"), limit=5, workers=2)


def rows_of(name: str) -> dict:
    return {row.name: row for row in TABLES[name].rows}


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
