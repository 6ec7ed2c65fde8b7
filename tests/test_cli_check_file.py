"""`check --file`: every claim of a file gets its verdict here, and the results are a file."""

from __future__ import annotations

import csv
import json
import re
from types import SimpleNamespace

import pytest
from flask import Flask

from app import cli
from app.batches.service import BatchState
from app.config.settings import Settings
from app.runs.service import Limits, Runs
from tests.fakes import FAILING, TWO_HOPS, scripted_container

CLAIMS = "claim,speaker\nThe author of Hamlet was born in England.,Somebody\nThe moon is made of rock.,\n"


@pytest.fixture
def terminal(sessions, tmp_path):
    """Make an application with nothing but runs and the command line; it runs `check` in a folder with claims.csv."""
    made = []
    (tmp_path / "claims.csv").write_text(CLAIMS)

    def make(*scripts, **options):
        container = scripted_container(*scripts)
        made.append(Runs(sessions, container.strategy_for, **options))
        app = Flask("app")
        here = SimpleNamespace(runs=made[-1], container=container, settings=Settings(instance=tmp_path))
        app.extensions["hopcheck"] = here
        cli.register(app)

        def check(*arguments: str):
            told = [each.replace("HERE", str(tmp_path)) for each in arguments]
            return app.test_cli_runner().invoke(args=["check", *told])

        return check, made[-1]

    yield make
    for runs in made:
        runs.stop()


def test_results_are_a_file_of_json_lines_with_progress_told_beside(terminal, tmp_path):
    check, _ = terminal()
    result = check("--file", "HERE/claims.csv", "--out", "HERE/results.jsonl")
    assert result.exit_code == 0 and result.stdout == ""
    assert "2 of 2 done: 2 SUPPORTED" in result.stderr
    told = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [(each["number"], each["speaker"], each["label"]) for each in told] == [
        (1, "Somebody", "SUPPORTED"),
        (2, None, "SUPPORTED"),
    ]


def test_results_are_csv_where_the_file_is_called_so_and_lines_on_the_terminal_without_a_file(terminal, tmp_path):
    check, _ = terminal()
    assert check("--file", "HERE/claims.csv", "--out", "HERE/results.csv").exit_code == 0
    with (tmp_path / "results.csv").open(newline="") as file:
        assert [each["label"] for each in csv.DictReader(file)] == ["SUPPORTED", "SUPPORTED"]
    printed = check("--file", "HERE/claims.csv").stdout.splitlines()
    assert [json.loads(line)["state"] for line in printed] == ["verdict", "verdict"]


def test_a_claim_without_a_verdict_is_told_and_the_exit_code_is_1(terminal):
    check, _ = terminal(FAILING, TWO_HOPS, workers=1)
    result = check("--file", "HERE/claims.csv")
    assert result.exit_code == 1 and "Not every claim came to a verdict." in result.stderr
    assert [json.loads(line)["state"] for line in result.stdout.splitlines()] == ["failed", "verdict"]


def test_a_batch_that_was_left_goes_on_by_its_id(terminal):
    check, runs = terminal(limits=Limits(day_calls=1), workers=1)
    spent = check("The moon is made of rock.")
    assert spent.exit_code == 0
    left = check("--file", "HERE/claims.csv")
    assert left.exit_code == 1 and "limit of 1 call a day is reached" in left.stderr
    batch_id = re.search(r"--batch (\S+) goes", left.stderr)[1]
    assert runs.batches.get(batch_id).state is BatchState.PAUSED
    check, runs = terminal()
    result = check("--batch", batch_id)
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Give one claim, a file of claims, or a batch to go on with."),
        (("A claim.", "--file", "HERE/claims.csv"), "Give one claim, a file of claims"),
        (("--batch", "nothing"), "There is no batch of that id that could go on."),
        (("--file", "HERE/none.csv"), "does not exist"),
    ],
)
def test_what_makes_no_sense_is_bad_input(terminal, arguments, told):
    check, _ = terminal()
    result = check(*arguments)
    assert result.exit_code == 2 and told in result.stderr
