"""Examples of what remains of a claim: the model learns what it will be asked for, of claims in the training split."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.modules.transcript import SAME, before_remaining
from research.claims.data import CLAIMS_FILE, read_claims
from research.tests.training.data import write_training_data
from research.training import remaining
from research.training.remaining import ROWS


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_training_data(tmp_path)
    rows = [{"id": str(at), "asked": 0, "remaining": "It is Paris."} for at in range(60)] + [
        {"id": "of another corpus", "asked": 0, "remaining": "It is so."}
    ]
    monkeypatch.setattr(remaining, "ROWS", tmp_path / "rows.jsonl")
    remaining.ROWS.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def test_an_example_continues_the_prompt_of_a_run(data: Path) -> None:
    made = list(remaining.examples(data, 1, 7))
    prompt = before_remaining("Paris is the capital.", "What is the capital?", "Paris")
    assert {each.text for each in made} == {f"{prompt} It is Paris.\n", f"{prompt} {SAME}\n"}
    assert [part.weight for part in made[0].parts] == [0.0, 1.0]


def test_every_epoch_has_the_same_examples_and_none_that_is_held_out(data: Path) -> None:
    made = list(remaining.examples(data, 2, 7))
    learned = [each for each in made if not each.held_out]
    assert len(learned) % 2 == 0 and 0 < len(made) - len(learned) < len(made) / 4


def test_written_rows_name_claims_once_each_and_end_as_sentences() -> None:
    """Whether their claims are in the training split, only the data can tell: `examples` leaves others out."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    assert len({(row["id"], row["asked"]) for row in rows}) == len(rows) > 300
    assert all(row["remaining"] == SAME or row["remaining"].endswith(".") for row in rows)


def test_claims_of_the_development_and_test_split_are_not_learned(data: Path) -> None:
    splits = {claim.id: claim.split for claim in read_claims(data / CLAIMS_FILE)}
    assert set(splits.values()) == {"train", "dev", "test"}
    count = sum(1 for each in remaining.examples(data, 1, 7) if each.text.endswith("Paris.\n"))
    assert count == sum(split == "train" for split in splits.values())
