"""`flask --app app train ...`: the trained models, and one clear sentence for every failure."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from app.backends.local.judge import EntailmentJudge

from app import create_app
from app.backends.local.hub_reader import HubReader
from app.config.settings import Settings
from research.claims.data import CLAIMS_FILE
from research.training.judge_examples import SQUAD
from research.training.pairs import SOURCES
from research.training.squad import FILES
from tests.limits import no_room_for
from tests.tiny import tiny_llama, tiny_qa, tiny_t5

ROW = {"id": 1, "claim": "C.", "label": "SUPPORTED", "evidence": [{"title": "T", "text": "It is so."}]}
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
    """A folder with a row in each of the judge's datasets, and enough of `vital_claims.jsonl` for all three splits."""
    for source in SOURCES:
        (tmp_path / f"{source}.jsonl").write_text(json.dumps(ROW) + "\n")
    (tmp_path / SQUAD).write_text(json.dumps(ROW) + "\n")
    (tmp_path / CLAIMS_FILE).write_text("".join(json.dumps(vital_row(at)) + "\n" for at in range(60)))
    return tmp_path


def vital_row(at: int) -> dict:
    lead = {"title": f"Town {at}", "text": "Paris is the capital of France."}
    asked = {"question": "What is the capital?", "answer": "Paris", "title": f"Town {at}"}
    about = {"kind": "place", "group": str(at), "style": "plain", "hops": 1, "explanation": "It is so."}
    return {**about, "id": str(at), "claim": "Paris is the capital.", "label": ("SUPPORTED", "REFUTED")[at % 2]} | {
        "evidence": [lead],
        "questions": [asked],
        "decisive": ["Paris"],
    }


def test_a_judge_can_be_trained_from_another_base_model(command, sets: Path) -> None:
    """It is calibrated, with its metrics for each source."""
    base, out = tiny_llama(sets / "base"), sets / "out"
    done = command("entailment", "--data", sets, "--base", base, "--out", out, "--rank", 2)
    assert done.exit_code == 0, done.output
    assert "vital-plain" in done.stdout and "three-way" in done.stdout
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["by_source"]["vital-plain"]["n"] > 0
    (row,) = EntailmentJudge(base, out).classify([("paris is the capital", [("T", "paris")])])
    assert sum(row) == pytest.approx(1, abs=1e-5)


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


def test_a_reader_can_be_trained_from_another_base_model(command, tmp_path: Path) -> None:
    """The result is a folder for READER, with a card."""
    text = "the cat is red and the dog is old"
    rows = [{"question": f"what is the {word}?", "answers": [{"text": "red"}]} for word in ("cat", "colour", "dog")]
    article = {"title": "A farm", "paragraphs": [{"context": text, "qas": rows}]}
    for name in FILES:
        (tmp_path / name).write_text(json.dumps({"data": [article]}))
    done = command("reader", "--data", tmp_path, "--base", tiny_qa(tmp_path / "qa"), "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "trained on 3 questions" in done.stdout
    HubReader(str(tmp_path / "out")).load()


def test_a_reader_cannot_start_from_two_models(command, tmp_path: Path) -> None:
    done = command("reader", "--data", tmp_path, "--base", "x", "--continue-from", tmp_path, "--out", tmp_path / "out")
    assert "give one of them" in error_of(done, 2)


def error_of(done, status: int) -> str:
    """Return the one line of error that a refused command prints."""
    assert done.exit_code == status, done.output
    assert "Traceback" not in done.output
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("kind", ["entailment", "question-generator", "reader"])
def test_missing_data_are_named(command, tmp_path: Path, kind: str) -> None:
    done = command(kind, "--data", tmp_path / "gone", "--out", tmp_path / "out")
    assert "gone" in error_of(done, 2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"claim": "C."', "line 1: not JSON"),
        (json.dumps(ROW) + "\n" + json.dumps(ROW | {"label": "MAYBE"}), "line 2: the label 'MAYBE' is unknown"),
        (json.dumps(ROW | {"evidence": [{"title": "T"}]}), "line 1: no text"),
        (json.dumps(ROW | {"evidence": "It is so."}), "line 1: evidence that are no list"),
        (json.dumps({"id": 1, "label": "SUPPORTED"}), "line 1: no claim"),
        ("", "is empty"),
        (None, "cannot be read: No such file"),
    ],
)
def test_an_invalid_dataset_for_the_judge_is_reported_with_its_line(command, sets: Path, text, sentence) -> None:
    """Before any training."""
    path = sets / f"{SOURCES[1]}.jsonl"
    path.unlink() if text is None else path.write_text(text)
    said = error_of(command("entailment", "--data", sets, "--out", sets / "out"), 2)
    assert path.name in said and sentence in said


ARTICLE = {"title": "T", "paragraphs": [{"context": "C.", "qas": [{"question": "Q?", "answers": [{"text": "C"}]}]}]}
ELSEWHERE = {"title": "T", "paragraphs": [{"context": "C.", "qas": [{"question": "Q?", "answers": [{"text": "D"}]}]}]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"data":\n[', "line 2: not JSON"),
        ("", "line 1: not JSON"),
        ("[]", "no JSON object with data"),
        (
            json.dumps({"data": [ARTICLE, ARTICLE | {"paragraphs": [{"context": "C."}]}]}),
            "article 2 has qas that are no list",
        ),
        (json.dumps({"data": [ELSEWHERE]}), "an answer to 'Q?' that is not in its context"),
        (None, "cannot be read: No such file"),
    ],
)
def test_an_invalid_file_for_the_reader_is_reported(command, tmp_path: Path, text, sentence: str) -> None:
    """Before any training."""
    (tmp_path / "squad_dev_v1.1.json").write_text(json.dumps({"data": [ARTICLE]}))
    if text is not None:
        (tmp_path / "squad_dev_v2.0.json").write_text(text)
    said = error_of(command("reader", "--data", tmp_path, "--out", tmp_path / "out"), 2)
    assert "squad_dev_v2.0.json" in said and sentence in said


def unpadded(folder: Path) -> Path:
    settings = tiny_llama(folder) / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"pad_token": None}))
    return folder


def cut_off(folder: Path) -> Path:
    weights = tiny_llama(folder) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1_000])
    return folder


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"evidence": []}, "evidence that are no list"),
        ({"style": ""}, "no style"),
        ({"hops": "1"}, "no hops"),
        ({"decisive": None}, "no decisive"),
        ({"questions": [{"question": "Q?", "title": None}]}, "a question without an answer and a title"),
    ],
)
def test_an_unreadable_claim_about_the_corpus_is_reported_with_its_line(
    command, sets: Path, change, sentence: str
) -> None:
    (sets / CLAIMS_FILE).write_text(json.dumps(vital_row(0)) + "\n" + json.dumps(vital_row(1) | change))
    said = error_of(command("entailment", "--data", sets, "--out", sets / "out"), 2)
    assert f"{CLAIMS_FILE}, line 2: {sentence}" in said


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (tiny_t5, "of the type t5, not a causal language model"),
        (tiny_qa, "does not have Llama's layers"),
        (unpadded, "has no padding token"),
        (cut_off, "is damaged or cut off"),
        (None, "There is no folder"),
    ],
)
def test_a_base_model_unsuitable_for_the_judge_is_refused(command, sets: Path, make, sentence: str) -> None:
    base = make(sets / "base") if make else sets / "base"
    assert sentence in error_of(command("entailment", "--data", sets, "--base", base, "--out", sets / "out"), 1)


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


@pytest.mark.parametrize("make", [tiny_llama, tiny_qa])
def test_a_base_model_that_cannot_generate_questions_is_refused(command, asked: Path, tmp_path: Path, make) -> None:
    done = command("question-generator", "--data", asked, "--base", make(tmp_path / "base"), "--out", tmp_path / "out")
    assert "not a sequence-to-sequence model" in error_of(done, 1)


def test_a_full_disk_is_reported_in_one_sentence(command, asked: Path, tmp_path: Path) -> None:
    arguments = "question-generator", "--data", asked, "--base", tiny_t5(tmp_path / "t5"), "--out", tmp_path / "out"
    with no_room_for(5_000):
        done = command(*arguments)
    assert "is the disk full?" in error_of(done, 1) and "checkpoint.pt" in error_of(done, 1)


class Interrupt(logging.Handler):
    """Raises KeyboardInterrupt when training logs a saved checkpoint."""

    def emit(self, record: logging.LogRecord) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_reports_what_is_kept_and_the_same_command_resumes(command, asked: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = "question-generator", "--data", asked, "--base", tiny_t5(tmp_path / "t5"), "--out", out
    log = logging.getLogger("research.training.fine_tuning")
    log.setLevel(logging.INFO)
    log.addHandler(interrupt := Interrupt())
    try:
        done = command(*arguments)
    finally:
        log.removeHandler(interrupt)
    assert error_of(done, 130) == (
        f"Stopped. {out / 'first-question' / 'checkpoint.pt'} is kept, and the same command resumes from it."
    )
    assert not (out / "first-question" / "model.safetensors").exists()
    assert command(*arguments).exit_code == 0
    assert (out / "first-question" / "model.safetensors").exists()
