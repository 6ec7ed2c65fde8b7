"""`flask --app app models ...`: listing choices with reasons, and fetching the models that settings name."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import create_app
from app.config import FLASK
from app.config.settings import Settings
from tests.backends.hub_server import MODELS, HubServer, point_to
from tests.tiny import tiny_t5


@pytest.fixture
def command(tmp_path):
    """Runs `models ...` with these settings."""

    def invoke(*arguments: str, **settings: str):
        env = {"INSTANCE": str(tmp_path / "instance"), "FLAN_T5": str(tmp_path / "t5")}
        app = create_app(Settings.from_env(env | settings))
        return app.test_cli_runner().invoke(args=["models", *arguments])

    return invoke


def test_every_module_is_listed_with_its_setting_and_every_unavailable_choice_with_its_fix(command):
    output = command("list").stdout
    for setting in ("PRESET", "CLAIM_VERIFIER", "QUESTION_GENERATOR", "QA_VALIDATOR", "REASONER", "ANSWERER"):
        assert f"({setting})" in output
    reason = " ".join(output.split("no  reciter-reader", 1)[1].splitlines()[1].split())
    assert (
        reason
        == "No language model is set up. Fix it with: LOCAL_MODEL, OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE"
    )
    assert f"Fix it with: {FLASK} models fetch flan-t5" in output


def test_a_language_model_is_listed_with_its_destination(command):
    output = command(
        "list", OPENAI_API_KEY="a-key", OPENAI_MODEL="big", OPENAI_BASE_URL="https://api.example.org/v1"
    ).stdout
    assert "yes reciter-reader" in output
    listed = output.split("yes big", 1)[1].splitlines()
    assert listed[1].split() == "sends claims to api.example.org".split()


def test_a_model_folder_needs_no_fetch(command, tmp_path):
    folder = tiny_t5(tmp_path / "t5")
    assert f"is in {folder}" in command("fetch", "flan-t5").stdout
    assert "yes flan-t5" in command("list").stdout


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("flan-t5", 1, "There is no folder"),
        ("question-seq2seq", 2, "QUESTION_SEQ2SEQ is not set"),
        ("everything", 2, "is not one of"),
    ],
)
def test_a_failed_fetch_is_reported_in_one_sentence(command, name, status, words):
    done = command("fetch", name)
    assert done.exit_code == status
    assert words in done.stderr and "Traceback" not in done.stderr


FILE = "tiny.Q4.gguf"
NAME = f"hub:{MODELS}/{FILE}"
CONTENT = b"GGUF" * 250_000


@pytest.fixture
def hub(monkeypatch) -> Iterator[HubServer]:
    with HubServer({FILE: CONTENT}) as server:
        point_to(monkeypatch, server.address)
        yield server


def test_size_and_licence_of_a_file_are_said_before_it_is_downloaded(command, hub):
    done = command("fetch", NAME)
    assert done.exit_code == 1 and "Aborted" in done.output
    assert f"{FILE} of {MODELS}: 1 MB; licence: mit." in done.output
    assert "Download it?" in done.output
    assert hub.ranges == []


def test_a_file_that_is_there_is_neither_looked_up_nor_asked_for_again(command, hub):
    command("fetch", NAME, "--yes")
    hub.asked.clear()
    done = command("fetch", NAME)
    assert done.exit_code == 0 and "It is in " in done.output and hub.asked == []


def test_a_hub_that_does_not_answer_and_a_full_disk_are_told_apart(command, hub, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "tiny.Q4.gguf")

    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.file_download.http_get", full)
        assert "No space left on device: tiny.Q4.gguf" in command("fetch", NAME, "--yes").stderr
    point_to(monkeypatch, "http://127.0.0.1:9")
    assert "the hub cannot be reached" in command("fetch", NAME, "--yes").stderr


def test_a_fetched_file_is_the_model_that_local_model_names(command, hub):
    assert f"Fix it with: {FLASK} models fetch {NAME}" in command("list", LOCAL_MODEL=NAME).output
    done = command("fetch", NAME, "--yes")
    assert done.exit_code == 0, done.output
    assert f"LOCAL_MODEL={NAME} loads it at the start" in done.output
    path = Path(done.output.split("It is in ")[1].splitlines()[0])
    assert path.read_bytes() == CONTENT
    assert "yes tiny.Q4 " in command("list", LOCAL_MODEL=NAME).output
    assert "yes tiny.Q4 " in command("list", LOCAL_MODEL=str(path)).output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hub:../../../etc/passwd.gguf", "names no GGUF file on the hub"),
        (f"hub:{MODELS}/other.gguf", f"has no file other.gguf. Fix it with: one that it has: {FILE}"),
        ("hub:someone/other/a.gguf", "could not be fetched"),
    ],
)
def test_a_file_that_the_hub_lacks_is_reported_in_one_sentence(command, hub, name, words):
    done = command("fetch", name, "--yes")
    assert done.exit_code == 1
    assert words in done.stderr and "Traceback" not in done.stderr
