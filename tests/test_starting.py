"""A server that cannot serve says why in a sentence, before anything is started."""

from __future__ import annotations

import socket

import pytest

from app import create_app
from app.config.preflight import port_problem, startup_problem
from app.config.settings import Settings
from tests.fakes import scripted_container


@pytest.fixture
def taken():
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_free_port_is_no_problem_and_is_free_afterwards(taken):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free = probe.getsockname()[1]
    assert port_problem("127.0.0.1", free) is None
    assert port_problem("127.0.0.1", free) is None
    assert free != taken


def test_a_port_that_is_taken_names_the_command_with_another(taken):
    assert f"make run PORT={taken + 1}" in port_problem("127.0.0.1", taken)


@pytest.mark.parametrize("host", ["203.0.113.7", "not an address"])
def test_a_host_that_is_not_this_machine_is_named(host):
    assert f"HOST={host} is no address" in port_problem(host, 8000)


def test_a_broken_signing_key_is_a_reason_not_to_start(tmp_path):
    (tmp_path / "secret_key").write_text("")
    assert "holds no signing key" in startup_problem(Settings(instance=tmp_path))


def test_a_socket_that_was_handed_over_needs_no_free_port(tmp_path, taken, monkeypatch):
    settings = Settings(instance=tmp_path, port=taken)
    assert "is taken" in startup_problem(settings)
    monkeypatch.setenv("LISTEN_FDS", "1")
    assert startup_problem(settings) is None


def test_an_application_is_made_all_the_same_so_that_doctor_can_be_asked(tmp_path, caplog):
    (tmp_path / "secret_key").mkdir()
    app = create_app(Settings(instance=tmp_path), scripted_container())
    assert app.secret_key and "neither read nor made" in caplog.text
    (tmp_path / "file").write_text("no folder")
    assert create_app(Settings(instance=tmp_path / "file" / "instance"), scripted_container())
