"""Models bundled with the code: total size, and a model card each with its metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.container.container import SHIPPED
from research.training.pairs import SOURCES

ROOT = Path(__file__).resolve().parents[1]
MODELS = sorted(folder for folder in SHIPPED.iterdir() if folder.is_dir())
MOST_BYTES = 70_000_000


def card_of(model: Path) -> str:
    return " ".join((model / "README.md").read_text(encoding="utf-8").split())


def cells(page: Path, first: str) -> list[str]:
    """Return the cells of the table row on `page` whose first cell is `first`, without emphasis."""
    rows = (line.strip("|\n ").split("|") for line in page.read_text(encoding="utf-8").splitlines() if "|" in line)
    return next(each for row in rows if (each := [cell.strip(" *") for cell in row])[0] == first)


def test_bundled_models_are_under_seventy_megabytes() -> None:
    sizes = [file.stat().st_size for file in SHIPPED.rglob("*") if file.is_file()]
    assert 0 < sum(sizes) < MOST_BYTES


@pytest.mark.parametrize("model", MODELS, ids=lambda folder: folder.name)
def test_a_card_states_data_licences_command_seed_time_and_limitations(model: Path) -> None:
    card = card_of(model)
    assert all(part in card for part in ("| base |", "| trained by |", "| data |", "CC BY-SA", "minutes"))
    written = model / "training.json"
    seed = json.loads(written.read_text(encoding="utf-8"))["settings"]["seed"] if written.exists() else 7
    assert f"seed {seed}" in card
    assert "What it is bad at" in card


@pytest.mark.parametrize("model", MODELS, ids=lambda folder: folder.name)
def test_card_and_notice_name_the_same_base_of_a_bundled_model_and_its_licence(model: Path) -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    (base,) = re.findall(rf"^app/models/{model.name} .*?(\S+ \([\w.-]+\))", notice, re.MULTILINE)
    assert f"| base | {base}" in card_of(model)


def test_no_bundled_model_is_trained_on_a_non_commercial_dataset() -> None:
    assert not [source for source in SOURCES if "averitec" in source.casefold()]
    assert "AVeriTeC is non-commercial and was not used" in card_of(SHIPPED / "judge")


def test_the_judges_card_has_the_metrics_measured_in_training() -> None:
    metrics = json.loads((SHIPPED / "judge" / "metrics.json").read_text(encoding="utf-8"))
    for source, row in metrics["by_source"].items():
        told = cells(SHIPPED / "judge" / "README.md", source)[1:5]
        shown = ("-" if row[name] is None else str(row[name]) for name in ("n", "three_way", "auc", "false_supported"))
        assert told == list(shown), source


def test_the_readers_card_has_the_metrics_measured_in_training() -> None:
    measured = json.loads((SHIPPED / "reader" / "metrics.json").read_text(encoding="utf-8"))["squad, own passage"]
    every, answerable, without = measured["all"], measured["answerable"], measured["unanswerable"]
    assert cells(SHIPPED / "reader" / "README.md", "SQuAD, its own passage")[1:] == [
        ", ".join(map(str, (every["n"], every["EM"], every["F1"]))),
        ", ".join(map(str, (answerable["n"], answerable["EM"], answerable["F1"]))),
        ", ".join(map(str, (without["n"], without["F1"]))),
    ]
