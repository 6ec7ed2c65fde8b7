"""Examples of calculations: each written one gives its claim's label, and is learned with answers missing or added."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.modules.calculation import Program
from app.modules.transcript import NONE, before_calculation
from research.claims.data import CLAIMS_FILE, read_claims
from research.tests.training.data import write_training_data
from research.training import calculations
from research.training.calculations import ROWS, in_order


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_training_data(tmp_path)
    rows = [{"id": str(at), "calculation": "a = 2; 3 > a"} for at in range(60)]
    rows.append({"id": "elsewhere", "calculation": NONE})
    monkeypatch.setattr(calculations, "ROWS", tmp_path / "rows.jsonl")
    calculations.ROWS.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def test_an_example_continues_the_prompt_of_a_run(data: Path) -> None:
    made = list(calculations.examples(data, 1, 7))
    prompt = before_calculation("Paris is the capital.", [("What is the capital?", "Paris")])
    assert f"{prompt} a = 2; 3 > a\n" in {each.text for each in made}
    assert all(each.text.endswith(" a = 2; 3 > a\n") for each in made)  # with one answer, none can be missing
    assert 0 < sum(each.held_out for each in made) < len(made) / 4


def test_claims_of_the_development_and_test_split_are_not_learned(data: Path) -> None:
    splits = [claim.split for claim in read_claims(data / CLAIMS_FILE)]
    assert len(list(calculations.examples(data, 1, 7))) == splits.count("train") < len(splits)


def test_no_written_row_is_there_twice_and_each_is_a_calculation() -> None:
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    assert len({json.dumps(row) for row in rows}) == len(rows) > 500
    assert all(row["calculation"] == NONE or Program.read(row["calculation"]) for row in rows)


def test_the_values_follow_the_order_of_the_answers() -> None:
    text = "north = 17500000; sierra_leone = 8460512; north < sierra_leone"
    pairs = [("How many live in Sierra Leone?", "8,460,512"), ("And in Guinea?", "over 17.5 million")]
    assert in_order(text, pairs) == "sierra_leone = 8460512; north = 17500000; north < sierra_leone"
    assert in_order(NONE, pairs) == NONE
