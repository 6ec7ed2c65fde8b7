"""Findings of the doctor about the settings, the instance folder, the signing key and the database."""

from __future__ import annotations

import re
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from flask_migrate import upgrade

from app import create_app
from app.config.settings import ROOT, Settings
from app.doctor import checks
from tests.doctor.looking import BROKEN, SOUND, WARNED, found, has, the_one
from tests.fakes import scripted_container


@pytest.fixture
def migrated(settings) -> Path:
    """The file of a database at the newest version."""
    with create_app(settings, scripted_container()).app_context():
        upgrade()
    return settings.instance / "hopcheck.sqlite3"


def test_settings_are_listed_without_secret_values(tmp_path):
    state, message = the_one(checks.settings_found, Settings(port=9000, openai_api_key="sk-much-too-secret"), tmp_path)
    assert state is SOUND and "PORT=9000" in message and "OPENAI_API_KEY (not shown)" in message
    assert "secret" not in message
    assert "all defaults" in the_one(checks.settings_found, Settings(), tmp_path)[1]


def test_an_unknown_name_in_the_env_file_is_reported_with_a_suggestion(tmp_path):
    (tmp_path / ".env").write_text("PROT=9000\nPORT=9000\n")
    assert has(found(checks.settings_found, Settings(), tmp_path), WARNED, "PROT is not a setting Write PORT")


def test_a_key_that_the_models_file_names_is_no_unknown_name(tmp_path):
    (tmp_path / ".env").write_text("HOUSE_TOKEN=much-too-secret\n")
    (tmp_path / ".env").chmod(0o644)
    messages = found(checks.settings_found, Settings(keys={"HOUSE_TOKEN": "much-too-secret"}), tmp_path)
    assert has(messages, WARNED, "read HOUSE_TOKEN") and not any("is not a setting" in str(each) for each in messages)


def test_a_variable_of_compose_and_an_empty_key_are_no_unknown_names(tmp_path):
    names = {*re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()), "GROQ_API_KEY"}
    (tmp_path / ".env").write_text("".join(f"{name}=\n" for name in names))
    assert len(found(checks.settings_found, Settings(), tmp_path)) == 1


def test_a_secret_in_an_env_file_that_others_can_read_is_reported(tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-much-too-secret\n")
    (tmp_path / ".env").chmod(0o644)
    message = found(checks.settings_found, Settings(), tmp_path)
    assert has(message, WARNED, "can read OPENAI_API_KEY") and has(message, WARNED, "chmod 600")
    assert "too-secret" not in str(message)
    (tmp_path / ".env").chmod(0o600)
    assert len(found(checks.settings_found, Settings(), tmp_path)) == 1


def test_an_existing_instance_folder_with_free_space_is_ok(settings, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(2**40, 0, 2**40))
    assert [state for state, _ in found(checks.instance, settings)] == [SOUND, SOUND]


@pytest.mark.parametrize("free, state", [(2**20, BROKEN), (2**29, WARNED)])
def test_a_nearly_full_disk_is_reported(settings, monkeypatch, free, state):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(2**40, 2**40 - free, free))
    assert has(found(checks.instance, settings), state, "free for")


def test_a_missing_or_read_only_instance_folder_is_a_problem(tmp_path):
    assert the_one(checks.instance, Settings(instance=tmp_path / "no"))[0] is BROKEN
    # Not even root can make a file in /proc.
    state, message = the_one(checks.instance, Settings(instance=Path("/proc/self")))
    assert state is BROKEN and "cannot be written" in message


def test_a_signing_key_that_only_its_owner_can_read_is_ok(settings):
    assert "the first start generates one" in the_one(checks.signing_key, settings)[1]
    settings.signing_key()
    assert the_one(checks.signing_key, settings)[0] is SOUND
    assert the_one(checks.signing_key, replace(settings, secret_key="x" * 40))[0] is SOUND
    assert the_one(checks.signing_key, replace(settings, secret_key="short"))[0] is WARNED


def test_a_damaged_signing_key_or_one_that_others_can_read_is_a_problem(settings):
    settings.signing_key()
    path = settings.instance / "secret_key"
    path.chmod(0o644)
    state, message = the_one(checks.signing_key, settings)
    assert state is BROKEN and f"chmod 600 {path}" in message
    path.write_text("")
    assert "holds no signing key" in the_one(checks.signing_key, settings)[1]
    path.unlink()
    path.mkdir()
    assert "neither read nor made" in the_one(checks.signing_key, settings)[1]


def test_a_migrated_database_is_ok(settings, migrated):
    assert the_one(checks.database, settings)[0] is SOUND


def test_a_missing_database_is_reported_and_not_created(settings):
    state, message = the_one(checks.database, settings)
    assert state is BROKEN and "is not there" in message and "make setup" in message
    assert list(settings.instance.iterdir()) == []


@pytest.mark.parametrize("change", ["update alembic_version set version_num = '0001'", "drop table alembic_version"])
def test_a_database_of_another_version_or_never_migrated_names_the_command(settings, migrated, change):
    with sqlite3.connect(migrated) as database:
        database.execute(change)
    state, message = the_one(checks.database, settings)
    assert state is BROKEN and "tables of this version" in message and "flask --app app db upgrade" in message


def test_a_locked_database_is_reported(settings, migrated):
    other = sqlite3.connect(migrated, isolation_level=None)
    other.execute("begin immediate")
    assert has(found(checks.database, settings), BROKEN, "another program holds it locked")
    other.close()


def test_a_damaged_database_is_reported(settings, migrated):
    with sqlite3.connect(migrated) as database:
        database.executescript("pragma wal_checkpoint(truncate)")
        (root,) = database.execute(
            "select rootpage from sqlite_master where name = 'ix_runs_owner_created_at'"
        ).fetchone()
        (size,) = database.execute("pragma page_size").fetchone()
    database.close()
    content = bytearray(migrated.read_bytes())
    content[(root - 1) * size : root * size] = b"\xff" * size
    migrated.write_bytes(content)
    assert any(state is BROKEN and "damaged" in message for state, message in found(checks.database, settings))


def test_a_file_that_is_not_a_database_and_an_unknown_database_type_are_reported(settings):
    (settings.instance / "hopcheck.sqlite3").write_bytes(b"not a database at all" * 300)
    assert "is no database" in the_one(checks.database, settings)[1]
    state, message = the_one(checks.database, replace(settings, database_url="nosuchdatabase://user:hush@host/name"))
    assert state is BROKEN and "hush" not in message
