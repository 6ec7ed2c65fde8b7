"""Tests for sandboxed processes: limits on time, memory and file size, and no access to our code or keys."""

from __future__ import annotations

import time

import pytest

from app.backends.fetch.sandbox import MAX_FILE_BYTES, UnreadableSource, run_sandboxed
from tests.waiting import LONG

MEMORY = 256 * 1024**2


def sandboxed(path: str, *arguments: str, seconds: float = 30, data: bytes = b"") -> bytes:
    problems = {1: "another", 3: "three"}
    return run_sandboxed(path, *arguments, seconds=seconds, memory=MEMORY, problems=problems, data=data)


@pytest.fixture
def script(tmp_path):
    """Return a function that writes a script and returns its path."""

    def write(text: str) -> str:
        path = tmp_path / "script.py"
        path.write_text(text)
        return str(path)

    return write


def test_arguments_and_input_are_passed_and_output_and_exit_code_returned(script):
    path = script("import sys\nprint(sys.argv[1:], sys.stdin.read())")
    assert sandboxed(path, "a", "b", data=b"hello") == b"['a', 'b'] hello\n"
    with pytest.raises(UnreadableSource, match="three"):
        sandboxed(script("import sys\nsys.exit(3)"))


def test_an_endless_script_is_killed(script):
    started = time.perf_counter()
    with pytest.raises(UnreadableSource, match=r"takes longer than 0\.3 seconds"):
        sandboxed(script("while True: pass"), seconds=0.3)
    assert time.perf_counter() - started < LONG


def test_a_script_that_exceeds_the_memory_or_file_size_limit_fails(script, tmp_path):
    large = str(tmp_path / "large")
    greedy = f"with open({large!r}, 'wb') as file: file.write(bytes({MAX_FILE_BYTES + 1}))"
    for error, text in (("MemoryError", "bytes(10**9)"), ("OSError", greedy)):
        with pytest.raises(UnreadableSource, match="three"):
            sandboxed(script(f"import sys\ntry:\n    {text}\nexcept {error}:\n    sys.exit(3)"))


def test_a_script_can_neither_import_the_app_nor_see_its_keys(script, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with pytest.raises(UnreadableSource, match="another"):
        sandboxed(script("import app"))
    output = sandboxed(script("import os; print(os.environ)"))
    assert b"PATH" in output and b"secret" not in output
