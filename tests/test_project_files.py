"""Files for contributors and for GitHub: one version, valid workflows and forms, hooks that run what `make` runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from app.config import VERSION

ROOT = Path(__file__).resolve().parents[1]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_written_once_and_the_package_metadata_takes_it_from_there():
    project = tomllib.loads(text_of("pyproject.toml"))
    assert "version" in project["project"]["dynamic"] and "version" not in project["project"]
    module, _, name = project["tool"]["setuptools"]["dynamic"]["version"]["attr"].rpartition(".")
    assert getattr(import_module(module), name) == VERSION
    files = ["CITATION.cff", "pyproject.toml", "README.md", *map(str, (ROOT / "app").rglob("*.py"))]
    spelled = [name for name in files if re.search(rf"(?<![\w.]){re.escape(VERSION)}(?![\w.])", text_of(name))]
    assert spelled == [str(ROOT / "app" / "config" / "__init__.py")]


def test_the_latest_release_of_the_changelog_is_the_version():
    unreleased, *releases = re.findall(r"^## \[([^\]]+)\]", text_of("docs/changelog.md"), re.MULTILINE)
    assert (unreleased, releases[0]) == ("Unreleased", VERSION)


@pytest.mark.parametrize(
    "schema, pattern",
    [
        ("vendor.citation-file-format", "CITATION.cff"),
        ("vendor.github-workflows", ".github/workflows/*.yml"),
        ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
    ],
)
def test_files_of_a_known_format_are_valid(schema, pattern):
    files = sorted(map(str, ROOT.glob(pattern)))
    assert files
    command = [str(Path(sys.executable).with_name("check-jsonschema")), "--builtin-schema", schema, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


def commands_of(*texts: str) -> list[str]:
    """Return the commands that these scripts consist of."""
    return [each.strip() for text in texts for each in re.split(r"&&|\n", text) if each.strip()]


def test_the_workflow_and_the_dev_container_run_commands_that_exist():
    steps = yaml.safe_load(text_of(".github/workflows/check.yml"))["jobs"]["check"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert ".ci/run" in scripts and os.access(ROOT / ".ci" / "run", os.X_OK)
    container = json.loads(text_of(".devcontainer/devcontainer.json"))
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), re.MULTILINE))
    for command in commands_of(*scripts, container["postCreateCommand"]):
        program, *arguments = command.split()
        if program == "make":
            assert set(arguments) <= targets, command
        else:
            assert os.access(ROOT / program, os.X_OK), command
