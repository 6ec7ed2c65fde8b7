"""The project's Markdown files: their links, and the form of those about a source or a kind of language model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.cli.check import check as check_command
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


def test_the_architecture_page_names_at_most_four_files_for_each_change():
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Where to change what")[2]
    rows = re.findall(r"^\| (?!change|---)(.*?) \| (.*) \|$", table, re.MULTILINE)
    named = r"\[[^\]]+\]|a migration|the module that uses it|the template that shows it|app/\S+\.json"
    files = {change: len(set(re.findall(named, cell))) for change, cell in rows}
    assert len(files) >= 18
    assert {change: count for change, count in files.items() if count > 4} == {}


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


SOURCES = ("wikipedia-live.md", "wikipedia-dump.md", "corpora.md", "zim.md", "web-sources.md")
MODELS = ("language-models.md", "local-servers.md", "local-models.md")


@pytest.mark.parametrize("name", SOURCES + MODELS)
def test_the_page_of_a_source_or_model_is_short_and_begins_with_the_three_commands_to_type(name):
    assert f"]({name})" in (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert re.match(r"# .*\n\n(?:    .+\n){3}\n", text)
    check = next(line for line in text.splitlines() if line.startswith("    flask --app app check"))
    known = {option for each in check_command.params for option in each.opts}
    assert set(re.findall(r"--[\w-]+", check)) - {"--app"} <= known
