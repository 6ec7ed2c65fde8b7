"""The Dockerfile calls only Makefile targets, so the tests that cover `make` cover its steps."""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's (instruction, rest) pairs, without comments and with continued lines joined."""
    lines = (line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#"))
    whole = "\n".join(lines).replace("\\\n", " ")
    return [
        (name.upper(), rest.strip()) for name, _, rest in (line.partition(" ") for line in whole.splitlines() if line)
    ]


def those(name: str) -> list[str]:
    return [rest for each, rest in instructions() if each == name]


def ignored(path: str) -> bool:
    """Return whether .dockerignore excludes `path` (or a folder above it); supports `**/` and wildcards."""
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    parts = path.split("/")
    folders = ["/".join(parts[: at + 1]) for at in range(len(parts))]
    tails = ["/".join(parts[at:]) for at in range(len(parts))]
    anywhere = [pattern.removeprefix("**/") for pattern in patterns if pattern.startswith("**/")]
    return any(fnmatch.fnmatchcase(folder, pattern) for folder in folders for pattern in patterns) or any(
        fnmatch.fnmatchcase(part, pattern) for tail in tails for part in tail.split("/") for pattern in anywhere
    )


def test_the_files_that_make_install_needs_are_copied_before_it_runs():
    order = [f"{name} {rest}" for name, rest in instructions()]
    copied = next(at for at, line in enumerate(order) if line.startswith("COPY") and "requirements.txt" in line)
    assert copied < next(at for at, line in enumerate(order) if line.startswith("RUN make install"))
    for needed in ("Makefile", "requirements.txt", "requirements.lock", "requirements-models.lock"):
        assert needed in order[copied].split()
        assert not ignored(needed)


def test_project_code_never_runs_as_root():
    order = instructions()
    became = next(at for at, (name, rest) in enumerate(order) if name == "USER" and rest not in ("root", "0"))
    assert all(name != "USER" for name, _ in order[became + 1 :])
    assert all(at > became for at, (_, rest) in enumerate(order) if rest.startswith("make "))


def test_the_health_check_is_valid_python():
    command = json.loads(re.split(r"\bCMD\b", those("HEALTHCHECK")[0])[1])
    assert command[:2] == [".venv/bin/python", "-c"]
    compile(command[2], "HEALTHCHECK", "exec")


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".env",
        ".env.production",
        ".venv/bin/python",
        "instance/secret_key",
        "instance/hopcheck.sqlite3",
        "elsewhere/secret_key",
        "copy.sqlite3-wal",
        "app/__pycache__/cli.cpython-311.pyc",
        ".pytest_cache/README.md",
        ".mypy_cache/3.11",
        "tests/fakes.py",
    ],
)
def test_secrets_history_and_build_outputs_are_excluded(path):
    assert ignored(path)


@pytest.mark.parametrize(
    "path", ["app/cli/check.py", "app/models/transcript/calibration.json", "templates/base.html", "static/app.js"]
)
def test_files_that_the_application_needs_are_included(path):
    assert (ROOT / path).exists()
    assert not ignored(path)
