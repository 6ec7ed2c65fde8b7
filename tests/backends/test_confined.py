"""Tests for processes that are limited: in time, memory, files, and in what they know of ours."""

from __future__ import annotations

import subprocess
import time

import pytest

from app.backends.fetch.sandbox import MAX_FILE_BYTES, run_sandboxed
from tests.waiting import LONG

MEMORY = 256 * 1024**2


@pytest.fixture
def script(tmp_path):
    """Write a script; its path."""

    def write(text: str) -> str:
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


def test_a_script_gets_its_arguments_and_its_input_and_gives_back_its_output_and_its_end(script):
    path = script("import sys\nprint(sys.argv[1:], sys.stdin.read())\nsys.exit(3)")
    done = run_sandboxed(path, "a", "b", seconds=30, memory=MEMORY, data=b"hello")
    assert (done.returncode, done.stdout) == (3, b"['a', 'b'] hello\n")


def test_a_script_that_never_ends_is_killed(script):
    started = time.perf_counter()
    with pytest.raises(subprocess.TimeoutExpired):
        run_sandboxed(script("while True: pass"), seconds=0.3, memory=MEMORY)
    assert time.perf_counter() - started < LONG


def test_a_script_that_wants_too_much_memory_or_writes_too_much_fails(script, tmp_path):
    assert b"MemoryError" in run_sandboxed(script("bytes(10**9)"), seconds=30, memory=MEMORY).stderr
    large = str(tmp_path / "large")
    greedy = script(f"with open({large!r}, 'wb') as file: file.write(bytes({MAX_FILE_BYTES + 1}))")
    assert b"File too large" in run_sandboxed(greedy, seconds=30, memory=MEMORY).stderr


def test_a_script_imports_nothing_of_ours_and_knows_none_of_our_keys(script, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert run_sandboxed(script("import app"), seconds=30, memory=MEMORY).returncode == 1
    told = run_sandboxed(script("import os; print(os.environ)"), seconds=30, memory=MEMORY).stdout
    assert b"PATH" in told and b"secret" not in told
