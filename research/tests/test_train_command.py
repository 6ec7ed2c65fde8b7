"""`flask --app app train ...`: the trained models, and one clear sentence for every failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import create_app
from app.config.settings import Settings
from app.modules.transcript import Source
from research.tests.training.data import interrupted_at_checkpoint, write_training_data
from research.training.adapter import read_adapter
from tests.tiny import tiny_t5
from tests.tiny_qwen import tiny_qwen

pytestmark = pytest.mark.slow

ASKED = [
    {"claim": f"claim {at} .", "hops": [{"question": "paris ?", "answer": "yes"}, {"question": "no ?"}]}
    for at in range(12)
]


@pytest.fixture
def command(tmp_path: Path):
    """Runs `train ...`."""
    app = create_app(Settings.from_env({"INSTANCE": str(tmp_path / "instance")}))
    return lambda *arguments: app.test_cli_runner().invoke(args=["train", *map(str, arguments)])


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "asked.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ASKED))
    return path


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    return write_training_data(tmp_path)


def test_the_adapter_is_trained_and_written_for_llama_cpp(command, sets: Path, monkeypatch) -> None:
    monkeypatch.setattr(
        "research.commands.train._search", lambda: lambda query, count: [Source("Rome", "Rome is in Italy.")]
    )
    base, out = tiny_qwen(sets / "base"), sets / "out"
    done = command("adapter", "--data", sets, "--base", base, "--out", out, "--rank", 2, "--minutes", 0.001)
    assert done.exit_code == 0, done.output
    assert "vital-plain" in done.stdout and "accuracy" in done.stdout
    weights, alpha = read_adapter(out / "adapter.gguf")
    assert alpha == 4 and weights["blk.1.ffn_down.weight.lora_b"].shape == (32, 2)
    assert json.loads((out / "training.json").read_text())["settings"]["rank"] == 2


def test_the_examples_alone_are_written_for_another_machine(command, sets: Path, monkeypatch) -> None:
    monkeypatch.setattr("research.commands.train._search", lambda: lambda query, count: [])
    done = command(
        "adapter", "--data", sets, "--base", tiny_qwen(sets / "base"), "--out", sets / "out", "--examples-only"
    )
    assert done.exit_code == 0, done.output
    assert [file.name for file in (sets / "out").iterdir()] == ["tokens.npz"]


def test_one_command_trains_both_question_generators(command, asked: Path, tmp_path: Path) -> None:
    """Each in its folder with a card and without temporary files."""
    out = tmp_path / "questions"
    base = tiny_t5(tmp_path / "t5")
    done = command("question-generator", "--data", asked, "--base", base, "--out", out, "--epochs", 1)
    assert done.exit_code == 0, done.output
    for name in ("first-question", "next-question"):
        card = json.loads((out / name / "training.json").read_text())
        assert (card["model"], card["settings"]["epochs"], card["settings"]["learning_rate"]) == (name, 1, 5e-5)
        assert f"trained on {card['examples']} examples" in done.stdout and card["data_hash"] in done.stdout
        assert not {file.name for file in (out / name).iterdir()} & {"checkpoint.pt", "checkpoint.partial"}


def test_one_question_generator_can_be_trained_alone_with_other_settings(command, asked: Path, tmp_path: Path) -> None:
    out, base = tmp_path / "questions", tiny_t5(tmp_path / "t5")
    numbers = ("--epochs", 2, "--batch-size", 3, "--learning-rate", 0.01, "--rank", 2, "--seed", 5)
    done = command("question-generator", "--data", asked, "--base", base, "--out", out, "--only", "next", *numbers)
    assert done.exit_code == 0, done.output
    assert [folder.name for folder in out.iterdir()] == ["next-question"]
    settings = json.loads((out / "next-question" / "training.json").read_text())["settings"]
    numbers_told = {key: settings[key] for key in ("epochs", "batch_size", "learning_rate", "rank", "seed")}
    assert numbers_told == {"epochs": 2, "batch_size": 3, "learning_rate": 0.01, "rank": 2, "seed": 5}


def error_of(done, status: int) -> str:
    """Return the one line of error that a refused command prints."""
    assert done.exit_code == status, done.output
    assert "Traceback" not in done.output
    return done.stderr.strip().splitlines()[-1]


def test_missing_data_are_named(command, tmp_path: Path) -> None:
    done = command("question-generator", "--data", tmp_path / "gone", "--out", tmp_path / "out")
    assert "gone" in error_of(done, 2)
    assert not (tmp_path / "out").exists()


def test_a_base_model_that_cannot_be_fetched_is_reported_in_one_sentence(
    command, asked: Path, tmp_path: Path, monkeypatch
) -> None:
    """A name that is not on this machine is fetched, here from an address where nothing listens."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    done = command("question-generator", "--data", asked, "--base", "somebody/t5", "--out", tmp_path / "out")
    assert "somebody/t5 could not be fetched" in error_of(done, 1)
    assert "Fetching somebody/t5" in done.stderr


def test_ctrl_c_reports_what_is_kept_and_the_same_command_resumes(command, asked: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = "question-generator", "--data", asked, "--base", tiny_t5(tmp_path / "t5"), "--out", out
    with interrupted_at_checkpoint():
        done = command(*arguments)
    assert error_of(done, 130) == (
        f"Stopped. {out / 'first-question' / 'checkpoint.pt'} is kept, and the same command resumes from it."
    )
    assert not (out / "first-question" / "model.safetensors").exists()
    assert command(*arguments).exit_code == 0
    assert (out / "first-question" / "model.safetensors").exists()
