"""`check --file`: every claim of a file gets its verdict, and the results are written to a file."""

from __future__ import annotations

import csv
import json
import re

import pytest
from sqlalchemy import update

from app.batches.service import Batches, BatchState
from app.config.settings import Settings
from app.runs.models import BatchRow
from app.runs.service import Limits, Runs
from tests import one_claim
from tests.batches.test_batches import stored
from tests.fakes import FAILING, TWO_HOPS, scripted_container
from tests.openai_server import OpenAIServer, play
from tests.terminal import terminal as command_line

CLAIMS = "claim,speaker\nThe author of Hamlet was born in England.,Somebody\nThe moon is made of rock.,\n"


@pytest.fixture
def terminal(sessions, tmp_path):
    """Make an application with only runs and the command line; it runs `check` in a folder with claims.csv."""
    made = []
    (tmp_path / "claims.csv").write_text(CLAIMS)

    def make(*scripts, **options):
        container = scripted_container(*scripts)
        made.append(Runs(sessions, container.strategy_for, **options))
        batches = Batches(sessions, made[-1], options.get("workers", 2))
        here = {"runs": made[-1], "batches": batches, "container": container, "settings": Settings(instance=tmp_path)}
        command = command_line(**here)
        return lambda *words: command("check", *(each.replace("HERE", str(tmp_path)) for each in words)), batches

    yield make
    for runs in made:
        runs.stop()


def test_results_are_written_as_json_lines_and_progress_is_printed(terminal, tmp_path):
    check, _ = terminal()
    (tmp_path / "claims.csv").write_text(CLAIMS.replace("speaker", "speaker,topic"))
    result = check("--file", "HERE/claims.csv", "--out", "HERE/results.jsonl")
    assert result.exit_code == 0 and result.stdout == "" and "Not read: topic." in result.stderr
    assert "2 of 2 done: 2 SUPPORTED" in result.stderr
    results = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [(each["number"], each["speaker"], each["label"]) for each in results] == [
        (1, "Somebody", "SUPPORTED"),
        (2, None, "SUPPORTED"),
    ]


def test_results_are_csv_by_file_extension_and_printed_without_a_file(terminal, tmp_path):
    check, _ = terminal()
    assert check("--file", "HERE/claims.csv", "--out", "HERE/results.csv").exit_code == 0
    with (tmp_path / "results.csv").open(newline="") as file:
        assert [each["label"] for each in csv.DictReader(file)] == ["SUPPORTED", "SUPPORTED"]
    printed = check("--file", "HERE/claims.csv").stdout.splitlines()
    assert [json.loads(line)["state"] for line in printed] == ["verdict", "verdict"]


def test_a_batch_of_another_version_ends_with_the_reason(terminal, sessions):
    check, batches = terminal()
    batch_id = stored(batches, 1)
    with sessions.begin() as session:
        session.execute(update(BatchRow).values(options={"max_hops": "of another version"}))
    result = check("--batch", batch_id)
    assert result.exit_code == 1 and "stored by another version" in result.stderr


def test_a_claim_without_a_verdict_is_reported_with_exit_code_1(terminal):
    check, _ = terminal(FAILING, TWO_HOPS, workers=1)
    result = check("--file", "HERE/claims.csv")
    assert result.exit_code == 1 and "Not every claim got a verdict." in result.stderr
    assert [json.loads(line)["state"] for line in result.stdout.splitlines()] == ["failed", "verdict"]


def test_an_interrupted_batch_resumes_by_its_id(terminal):
    check, batches = terminal(limits=Limits(day_calls=1), workers=1)
    spent = check("The moon is made of rock.")
    assert spent.exit_code == 0
    left = check("--file", "HERE/claims.csv")
    assert left.exit_code == 1 and "limit on calls a day was reached: 1" in left.stderr
    batch_id = re.search(r"--batch (\S+)\.", left.stderr)[1]
    assert batches.get(batch_id).state is BatchState.PAUSED
    check, batches = terminal()
    result = check("--batch", batch_id)
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Give one claim, a file of claims, or a batch to resume."),
        (("A claim.", "--file", "HERE/claims.csv"), "Give one claim, a file of claims"),
        (("--batch", "nothing"), "There is no batch with this id that could be resumed."),
        (("--file", "HERE/none.csv"), "does not exist"),
        (("--file", "HERE/claims.csv", "--speaker", "A", "--json"), "No effect with --file: --speaker, --json."),
        (("--batch", "nothing", "--fresh", "--max-hops", "1"), "No effect with --batch: --fresh, --max-hops."),
        (("A claim.", "--out", "HERE/results.csv"), "No effect with a single claim: --out."),
    ],
)
def test_contradictory_arguments_are_invalid_input(terminal, arguments, message):
    check, _ = terminal()
    result = check(*arguments)
    assert result.exit_code == 2 and message in result.stderr


@pytest.fixture
def with_model(tmp_path, real_app):
    """Runs `check --file` of two claims with a scripted language model on a server at 2 and 8 per million tokens."""

    def check(server: OpenAIServer, *more: str, **options):
        file = tmp_path / "models.toml"
        prices = "prompt_price = 2\ncompletion_price = 8"
        file.write_text(f'[[model]]\nname = "big"\nmodel = "big"\nbase_url = "{server.url}"\n{prices}\n')
        (tmp_path / "claims.txt").write_text(f"{one_claim.CLAIM.text}\nThe author of Hamlet was born in Italy.\n")
        app = real_app(**{"MODELS_FILE": str(file), "READ_WITH": "model"} | options.pop("env", {}))
        chosen = ["--preset", "prompted", "--answerer", "reciter-reader"]
        return app.test_cli_runner().invoke(
            args=["check", "--file", f"{tmp_path}/claims.txt", *chosen, *more], **options
        )

    return check


def test_a_batch_says_its_costs_and_asks_before_a_model_is_called(with_model):
    with OpenAIServer(play()) as server:
        refused = with_model(server, input="n\n")
        assert refused.exit_code == 1 and server.asked == [] and refused.stdout == ""
        said = r"Estimated: 2 rows, \d+ calls, [\d.]+ million tokens read .* [\d.]+ in money, [\d.]+ hours"
        assert re.search(said, refused.stderr) and "Go on? (--yes does not ask)" in refused.stderr
        agreed = with_model(server, input="y\n")
        assert agreed.exit_code == 0 and len(agreed.stdout.splitlines()) == 2 and server.asked


def test_each_run_of_a_batch_obeys_the_limit_on_costs_and_the_batch_that_of_the_day(with_model):
    """Each call of the scripted model costs 0.000036 and has 12 tokens; a whole check takes eleven."""
    with OpenAIServer(play()) as server:
        cheap = with_model(server, "--yes", env={"RUN_COST": "0.0001", "WORKERS": "1"})
        assert cheap.exit_code == 0 and len(server.asked) < 2 * 8
        asked = len(server.asked)
        stopped = with_model(server, "--yes", "--fresh", env={"DAY_TOKENS": str(12 * asked), "WORKERS": "1"})
        assert stopped.exit_code == 1 and "tokens a day was reached" in stopped.stderr and len(server.asked) == asked
