"""Files for contributors and for GitHub: one version, valid workflows and forms, hooks that run what `make` runs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from setuptools.config.expand import read_attr

from app.config import VERSION

ROOT = Path(__file__).resolve().parents[1]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_written_once_and_the_package_metadata_takes_it_from_there():
    project = tomllib.loads(text_of("pyproject.toml"))
    assert "version" in project["project"]["dynamic"] and "version" not in project["project"]
    assert read_attr(project["tool"]["setuptools"]["dynamic"]["version"]["attr"], root_dir=ROOT) == VERSION
    files = ["CITATION.cff", "pyproject.toml", "README.md", *map(str, (ROOT / "app").rglob("*.py"))]
    spelled = [name for name in files if re.search(rf"(?<![\w.]){re.escape(VERSION)}(?![\w.])", text_of(name))]
    assert spelled == [str(ROOT / "app" / "config" / "__init__.py")]


def test_the_latest_release_of_the_changelog_is_the_version():
    unreleased, *releases = re.findall(r"^## \[([^\]]+)\]", text_of("CHANGELOG.md"), re.MULTILINE)
    assert (unreleased, releases[0]) == ("Unreleased", VERSION)


@pytest.mark.parametrize(
    "schema, pattern",
    [
        ("vendor.citation-file-format", "CITATION.cff"),
    ],
)
def test_files_of_a_known_format_are_valid(schema, pattern):
    files = sorted(map(str, ROOT.glob(pattern)))
    assert files
    command = [str(Path(sys.executable).with_name("check-jsonschema")), "--builtin-schema", schema, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
