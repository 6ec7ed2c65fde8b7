"""`flask --app app models ...`: listing choices with reasons, and fetching the models in FLAN_T5 and READER."""

from __future__ import annotations

import pytest

from app import create_app
from app.config.settings import Settings
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
    for setting in ("PRESET", "CLAIM_VERIFIER", "QUESTION_GENERATOR", "QA_VALIDATOR", "REASONER", "ANSWERER", "READER"):
        assert f"({setting})" in output
    reason = " ".join(output.split("no  reciter-reader", 1)[1].splitlines()[1].split())
    assert reason == "No language model is set up. Fix it with: OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE"
    assert "Fix it with: flask --app app models fetch flan-t5" in output


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
    [("flan-t5", 1, "There is no folder"), ("reader", 2, "READER is not set"), ("everything", 2, "is not one of")],
)
def test_a_failed_fetch_is_reported_in_one_sentence(command, name, status, words):
    done = command("fetch", name)
    assert done.exit_code == status
    assert words in done.stderr and "Traceback" not in done.stderr
