"""Setup: each step runs once, completely or not at all, and failures are one clear line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from flask_migrate import upgrade

from app import create_app
from app.backends.corpus.registry import folder_of
from app.backends.local.base_model import base_model_path, mark_checked
from app.bootstrap import PreparationStep, prepare, steps
from app.cli import corpus, models
from app.config.settings import Settings
from app.domain.errors import ModelUnavailable
from app.extensions import db
from app.runs.schema_version import is_newest
from tests.fakes import scripted_container
from tests.local_files import FILES
from tests.terminal import terminal

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def settings(tmp_path):
    return Settings.from_env({"INSTANCE": str(tmp_path / "instance")})


@pytest.fixture
def command(settings):
    """Runs `flask --app app ...` with the setup commands, on an empty instance folder."""
    return terminal(models.prepare, corpus.corpus, settings=settings)


class Made:
    """Steps that count as done once they were made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def step(self, title: str) -> PreparationStep:
        return PreparationStep(title, lambda: title in self.made, lambda say: self.made.append(title))


def test_a_built_in_source_is_indexed_in_place_of_the_corpora_that_it_replaces(tmp_path):
    made = steps(Settings.from_env({"INSTANCE": str(tmp_path), "SOURCE": "vital", "CORPORA": "mine"}))
    assert [step.title for step in made if "corpus vital" in step.title]


def test_a_completed_step_is_not_repeated():
    log, lines = Made(), []
    prepare([log.step("models")], lines.append)
    prepare([log.step("models"), log.step("corpus")], lines.append)
    assert log.made == ["models", "corpus"]
    assert "[1/2] models: already done" in lines


def test_the_embedded_default_needs_the_base_model_and_the_index(settings):
    assert [step.is_done() for step in steps(settings)] == [False, False]


def test_a_step_that_fails_is_reported_in_one_line(command, monkeypatch):
    def unavailable(say):
        raise ModelUnavailable("There is no Java 21 or newer here", fix="make setup")

    monkeypatch.setattr(models, "steps", lambda settings: (PreparationStep("Index", lambda: False, unavailable),))
    done = command("prepare")
    assert done.exit_code == 1
    assert done.output.splitlines()[-1] == "Error: There is no Java 21 or newer here. Fix it with: make setup"


@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.timeout(300)
def test_the_built_in_corpus_is_built_once(command, settings):
    built = command("corpus", "build")
    assert built.exit_code == 0, built.output
    assert "indexed 10,033 of 10,033 passages" in built.output
    assert (folder_of(settings.instance, "vital") / "manifest.json").is_file()
    assert "already done" in command("corpus", "build", "--if-needed").output
    assert "10,033 passages" in command("corpus", "list").output


@pytest.fixture
def migrated(settings):
    """The database of `settings` in its newest version."""
    settings.instance.mkdir()
    with create_app(settings, scripted_container()).app_context():
        upgrade()
        db.engine.dispose()
    return settings


def test_a_database_is_current_once_migrated_and_checking_does_not_create_it(settings):
    assert not is_newest(settings.database_url)
    assert not settings.instance.exists()


def test_a_database_other_than_sqlite_ismark_checked_through_sqlalchemy(migrated):
    assert is_newest(migrated.database_url.replace("sqlite:", "sqlite+pysqlite:"))


@pytest.mark.parametrize(
    "url", ["sqlite:///{file}", "postgresql+nodriver://host/name", "sqlite:////nowhere/at/all", "sqlite://"]
)
def test_an_unusable_database_is_not_current(tmp_path, url):
    file = tmp_path / "hopcheck.sqlite3"
    file.write_text("This is no database." * 100)
    assert not is_newest(url.format(file=file))


def test_checking_the_setup_reports_only_by_exit_status(tmp_path, migrated):
    def look() -> tuple[int, str]:
        command = [sys.executable, "-m", "app.bootstrap"]
        nothing_else = {"INSTANCE": str(migrated.instance), "CORPORA": "mine"}
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | nothing_else)
        return done.returncode, done.stdout + done.stderr

    assert look() == (1, "")
    (path := base_model_path(migrated)).parent.mkdir(exist_ok=True)
    path.symlink_to(FILES[0].resolve())
    mark_checked(path)
    assert look() == (0, "")
