"""A server that cannot serve reports the reason in one sentence before anything is started."""

from __future__ import annotations

import socket

import pytest

from app import create_app
from app.bootstrap import port_problem, startup_problem
from app.config import command_name, make
from app.config.settings import Settings
from tests.fakes import scripted_container


@pytest.fixture
def taken():
    """A port that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_free_port_is_accepted_and_stays_free(taken):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free = probe.getsockname()[1]
    assert port_problem("127.0.0.1", free) is None
    assert port_problem("127.0.0.1", free) is None
    assert free != taken


def test_a_port_in_use_is_reported_with_a_command_for_another(taken):
    assert f"make run PORT={taken + 1}" in port_problem("127.0.0.1", taken)


@pytest.mark.parametrize("host", ["203.0.113.7", "not an address"])
def test_a_host_of_another_machine_is_reported(host):
    assert f"HOST={host} is no address" in port_problem(host, 8000)


def test_a_broken_signing_key_prevents_the_start(tmp_path):
    (tmp_path / "secret_key").write_text("")
    assert "holds no signing key" in startup_problem(Settings(instance=tmp_path))


def test_an_inherited_socket_needs_no_free_port(tmp_path, taken, monkeypatch):
    settings = Settings(instance=tmp_path, port=taken)
    assert "is taken" in startup_problem(settings)
    monkeypatch.setenv("LISTEN_FDS", "1")
    assert startup_problem(settings) is None


def test_the_application_is_created_despite_problems_so_that_doctor_can_run(tmp_path, caplog):
    (tmp_path / "secret_key").mkdir()
    app = create_app(Settings(instance=tmp_path), scripted_container())
    assert app.secret_key and "neither read nor made" in caplog.text
    (tmp_path / "file").write_text("no folder")
    assert create_app(Settings(instance=tmp_path / "file" / "instance"), scripted_container())


@pytest.mark.parametrize(
    ("python", "has_makefile", "expected"),
    [
        (".venv/bin/python", True, ".venv/bin/flask --app app"),
        ("/opt/other/bin/python", True, "/opt/other/bin/flask --app app"),
        ("/opt/other/bin/python", False, "/opt/other/bin/hopcheck"),
    ],
)
def test_a_command_begins_with_the_program_of_this_installation(tmp_path, python, has_makefile, expected):
    if has_makefile:
        (tmp_path / "Makefile").touch()
    assert command_name(tmp_path / python, tmp_path) == expected


@pytest.mark.parametrize("target", ["setup", "install", "models", "corpus"])
def test_a_target_of_the_makefile_is_named_only_where_there_is_one(tmp_path, target):
    (tmp_path / "pyproject.toml").write_text('[project.optional-dependencies]\nmodels = ["a==1", "b==2"]')
    installed = make(target, tmp_path / "bin/python", tmp_path)
    assert "make " not in installed and ("hopcheck" in installed or "--no-deps a==1 b==2" in installed)
    (tmp_path / "Makefile").touch()
    assert make(target, tmp_path / "bin/python", tmp_path) == f"make {target}"
