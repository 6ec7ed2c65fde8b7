"""The `doctor` command: a check that fails hides no other, and the exit code says whether there is a problem."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from app.config.settings import ROOT, Settings
from app.doctor import Finding, State, format_findings, ok, problem, run_checks, warning
from app.doctor.checks import CHECKS
from tests.doctor.looking import BROKEN, SOUND
from tests.waiting import LONG


def test_a_check_that_raises_does_not_hide_the_others():
    def broken(settings):
        raise RuntimeError("out of order\nwith a second line")

    findings = list(run_checks(Settings(), [("one", broken), ("two", lambda settings: [ok("fine")])]))
    assert [finding.state for finding in findings] == [BROKEN, SOUND]
    assert "RuntimeError, out of order" in findings[0].message and "second" not in findings[0].message


def test_each_finding_is_a_line_with_its_fix_below_and_totals_at_the_end():
    message = list(format_findings([ok("fine"), warning("so so", "do this"), problem("bad", "do that")]))
    assert [line.split()[0] for line in message] == ["ok", "warning", "Fix:", "problem", "Fix:", "Problems:"]
    assert message[-1] == "Problems: 1. Warnings: 1."


@pytest.fixture
def doctor(settings):
    """A function that runs the doctor in a separate process with the given environment."""

    def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, "INSTANCE": str(settings.instance), "LOG_LEVEL": "INFO", **environment}
        command = command or (sys.executable, "-m", "flask", "--app", "app", "doctor")
        return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=LONG)

    return run


def test_the_doctor_names_every_problem_with_its_fix_when_nearly_everything_is_broken(doctor, settings):
    (settings.instance / "secret_key").mkdir()
    (settings.instance / "hopcheck.sqlite3").write_bytes(b"junk" * 1000)
    command = (sys.executable, "-m", "flask", "--app", "app", "doctor", "--json")
    done = doctor(*command, QUESTION_MODEL="/nowhere.gguf", JAVA_HOME="/nowhere")
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
    findings = [
        Finding(State(each["state"]), each["said"], each["mend"], each["name"]) for each in json.loads(done.stdout)
    ]
    assert {name for name, _ in CHECKS} >= {"packages", "database"} <= {finding.name for finding in findings}
    problems = [finding for finding in findings if finding.state is BROKEN]
    for words in (
        "neither read nor made",
        "is no database",
        "nowhere.gguf is missing",
        "is missing",
    ):
        assert any(words in problem.message for problem in problems), problems
    assert len(problems) >= 4 and all(problem.fix for problem in problems)


def test_an_invalid_models_file_ends_the_command_with_one_line_and_is_named_by_the_module(doctor, tmp_path):
    """The module works without the flask command, and makes every other check too."""
    (tmp_path / "models.toml").write_text("[[model]\n")
    done = doctor(MODELS_FILE=str(tmp_path / "models.toml"))
    assert done.returncode == 1
    assert done.stderr.startswith("Hopcheck cannot start: ") and len(done.stderr.splitlines()) == 1
    done = doctor(sys.executable, "-m", "app.doctor", MODELS_FILE=str(tmp_path / "models.toml"))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "models.toml" in done.stdout and "hopcheck.sqlite3 is not there" in done.stdout


WITHOUT = "import runpy, sys; sys.modules.update(flask=None, flask_sqlalchemy=None, torch=None, gguf=None); "


def test_packages_that_cannot_be_imported_do_not_prevent_the_other_checks(doctor):
    done = doctor(sys.executable, "-c", WITHOUT + "runpy.run_module('app.doctor', run_name='__main__')")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "The check failed: ModuleNotFoundError" in done.stdout
    assert "ok       Java" in done.stdout
