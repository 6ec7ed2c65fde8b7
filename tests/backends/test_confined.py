"""Tests for sandboxed processes: limits on time, memory and file size, and no access to our code or keys."""

from __future__ import annotations

import subprocess
import time

import pytest

from app.backends.fetch.sandbox import MAX_FILE_BYTES, run_sandboxed
from tests.waiting import LONG

MEMORY = 256 * 1024**2


@pytest.fixture
def script(tmp_path):
    """Return a function that writes a script and returns its path."""

    def write(text: str) -> str:
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


def test_arguments_and_input_are_passed_and_output_and_exit_code_returned(script):
    path = script("import sys\nprint(sys.argv[1:], sys.stdin.read())\nsys.exit(3)")
    done = run_sandboxed(path, "a", "b", seconds=30, memory=MEMORY, data=b"hello")
    assert (done.returncode, done.stdout) == (3, b"['a', 'b'] hello\n")


def test_an_endless_script_is_killed(script):
    started = time.perf_counter()
    with pytest.raises(subprocess.TimeoutExpired):
        run_sandboxed(script("while True: pass"), seconds=0.3, memory=MEMORY)
    assert time.perf_counter() - started < LONG


def test_a_script_that_exceeds_the_memory_or_file_size_limit_fails(script, tmp_path):
    assert b"MemoryError" in run_sandboxed(script("bytes(10**9)"), seconds=30, memory=MEMORY).stderr
    large = str(tmp_path / "large")
    greedy = script(f"with open({large!r}, 'wb') as file: file.write(bytes({MAX_FILE_BYTES + 1}))")
    assert b"File too large" in run_sandboxed(greedy, seconds=30, memory=MEMORY).stderr


def test_a_script_can_neither_import_the_app_nor_see_its_keys(script, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert run_sandboxed(script("import app"), seconds=30, memory=MEMORY).returncode == 1
    output = run_sandboxed(script("import os; print(os.environ)"), seconds=30, memory=MEMORY).stdout
    assert b"PATH" in output and b"secret" not in output
