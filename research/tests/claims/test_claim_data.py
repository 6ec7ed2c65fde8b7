"""Claims of a data set with those written for this repository: what joins which split."""

from __future__ import annotations

import json
from itertools import count

import pytest

from research.claims import data


def _title_in(split: data.Split) -> str:
    """Return a made-up title of that split."""
    return next(title for n in count() if data.split_by_titles([[title := f"Article {n}"]])[title] == split)


def _row(title: str, **more: object) -> dict:
    same = {"label": "SUPPORTED", "questions": [], "decisive": [f"{title} is old."], "explanation": "It is."}
    return {"claim": f"{title} is old.", "group": "g", **same, **more}


def _written_to(path, rows) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def train() -> str:
    return _title_in("train")


def test_written_claims_take_their_leads_from_the_training_split_and_no_other(tmp_path, monkeypatch, train):
    blind = _title_in("test")
    same = {"kind": "date", "style": "plain", "hops": 1}
    evidence = ([{"title": title, "text": f"{title} is old."}] for title in (train, blind))
    rows = [_row(each[0]["title"], id=str(n), evidence=each, **same) for n, each in enumerate(evidence)]
    _written_to(tmp_path / "vital.jsonl", rows)
    written = [_row(train, titles=[train]), _row(blind, titles=[blind]), _row(train, titles=[train, "Article x"])]
    _written_to(tmp_path / "written.jsonl", written)
    monkeypatch.setattr(data, "WRITTEN", tmp_path / "written.jsonl")
    found = data.read_claims(tmp_path / "vital.jsonl")
    assert [(row.split, data.is_written(row)) for row in found] == [("train", False), ("test", False), ("train", True)]
    assert found[2].leads == ((train, f"{train} is old."),)


def test_each_pair_of_written_claims_has_a_true_and_a_false_one():
    groups: dict[str, list[str]] = {}
    for line in data.WRITTEN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        groups.setdefault(row["group"], []).append(row["label"])
    paired = [sorted(labels) == ["REFUTED", "SUPPORTED"] for labels in groups.values() if len(labels) > 1]
    assert len(paired) > 400 and all(paired)
