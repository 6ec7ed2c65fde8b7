"""The project's Markdown files: their links, and the form of those about a source or a kind of language model."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.config import FLASK, command_name
from app.config.settings import ROOT

PAGES = sorted(
    page
    for folder in (ROOT, *(ROOT / name for name in ("docs", "research", "benchmarks")))
    for page in (folder.glob("*.md") if folder == ROOT else folder.rglob("*.md"))
)


def headings(page: Path) -> set[str]:
    """Return the anchors of the page's headings, as GitHub makes them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_have_existing_targets(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text)
    definitions = re.findall(r"^\[[^\]]+\]: (?!https?:)([^#\s]*)(?:#(\S*))?$", text, re.MULTILINE)
    for path, anchor in links + definitions:
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        assert not anchor or anchor in headings(target), f"{path}#{anchor}"


def test_every_document_and_file_that_the_code_names_exists():
    named = re.compile(r"\b((?:docs|research|app|tests)/[\w/.-]+\.(?:md|py|json|txt))\b")
    sources = [path for folder in ("app", "research") for path in (ROOT / folder).rglob("*.py")]
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources
        for name in named.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    }
    assert missing == set()


def test_every_command_that_is_printed_names_the_flask_of_the_checkout():
    """A bare `flask` is that of another installation, or none."""
    bare = re.compile(r"(?<![\w/])flask --app")
    printed = [*PAGES, *ROOT.glob("templates/*.html"), *ROOT.glob("deploy/*")]
    found = {page.relative_to(ROOT): bare.findall(page.read_text("utf-8")) for page in printed if page.is_file()}
    assert not {page: commands for page, commands in found.items() if commands and "notes" not in page.parts}


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


def test_help_and_errors_name_commands_as_they_work_when_pasted():
    done = subprocess.run(
        [sys.executable, "-m", "flask", "--app", "app", "corpus", "fetch"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2 and f"Try '{FLASK} corpus fetch --help'" in done.stderr
