"""The command group `corpus`: build, list and remove corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from app.backends.corpus.bm25 import Java
from app.backends.corpus.builder import BuildCounts, BuildRequest, build_corpus, check_replaced
from app.backends.corpus.formats import FORMATS
from app.backends.corpus.index import PROBLEMS, Manifest
from app.backends.corpus.registry import (
    CORPORA,
    VITAL,
    CorpusInfo,
    check_removable,
    folder_of,
    installed,
    remove_corpus,
)
from app.backends.corpus.snapshots import WikipediaSnapshot, find_wikipedia, install_wikipedia
from app.bootstrap import corpus_index, prepare
from app.capabilities.options import default_corpora
from app.cli.output import CommandGroup
from app.config.settings import Settings
from app.domain.errors import InvalidInput
from app.web import services

corpus = CommandGroup("corpus", help="The corpora that evidence comes from.")


@corpus.command("build")
@click.argument("name", required=False)
@click.option("--from", "path", type=click.Path(path_type=Path), help="File or folder with the documents.")
@click.option("--format", type=click.Choice(FORMATS), default="auto", show_default=True, help="What is in PATH.")
@click.option("--title", default="", help="Title that visitors see; NAME when not given.")
@click.option("--source", default="", help="Source of the text, with its licence.")
@click.option(
    "--on-error",
    type=click.Choice(["skip", "refuse"]),
    default="skip",
    show_default=True,
    help="For a broken entry.",
)
@click.option("--replace", is_flag=True, help="Replace the corpus of this name once the new one is whole.")
@click.option("--if-needed", is_flag=True, help="Leave a built-in index that is whole and up to date.")
def build(name: str | None, path: Path | None, if_needed: bool, **chosen: Any) -> None:
    """Build the corpus NAME from documents; without --from the one that ships."""
    settings = _settings()
    name = name or VITAL.name
    if path:
        _build(settings, name, path, **chosen)
    elif name in CORPORA:
        prepare([corpus_index(settings, CORPORA[name])], click.echo, redo=not if_needed)
    else:
        raise InvalidInput(f"{name} is not a built-in corpus; name the file or folder to build it from with --from.")


def _build(settings: Settings, name: str, path: Path, on_error: str, replace: bool, **fields: str) -> None:
    folder = folder_of(settings.instance, name)
    request = BuildRequest(name, path, refuse=on_error == "refuse", **fields)
    _print_built(folder, *build_corpus(request, folder, _java(settings), click.echo, replaces=replace))


def _print_built(folder: Path, manifest: Manifest, counts: BuildCounts) -> None:
    size = f"{manifest.count:,} passages of {counts.documents:,} documents, {manifest.bytes / 1e6:,.1f} MB of index"
    click.echo(f"{manifest.corpus}: {size}")
    if counts.problems:
        click.echo(f"skipped {counts.problems:,} broken entries, listed in {folder / PROBLEMS}")


@corpus.command("fetch")
@click.argument("name")
@click.option("--replace", is_flag=True, help="Replace the corpus of this name once the new one is whole.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def fetch(name: str, replace: bool, yes: bool) -> None:
    """Fetch and index a Wikipedia: simple-wikipedia, or LANGUAGE-wikipedia. The same command resumes the download."""
    settings = _settings()
    folder = folder_of(settings.instance, name)
    check_replaced(folder, replace)
    found = find_wikipedia(name)
    click.echo(_described(found))
    if not yes:
        click.confirm("Fetch it?", abort=True)
    _print_built(folder, *install_wikipedia(found, folder, _java(settings), click.echo, replaces=replace))


def _described(found: WikipediaSnapshot) -> str:
    files = f"{len(found.files)} file{'' if len(found.files) == 1 else 's'}"
    return f"{found.title} of {found.day.isoformat()}: {files}, {found.bytes / 1e6:,.1f} MB, licence {found.licence}."


@corpus.command("list")
def listing() -> None:
    """List every corpus: name, kind, passages, size, date, source of its text, and state."""
    default = default_corpora(_settings())
    for each in installed(_settings().instance):
        click.echo(_row(each, each.name in default))


def _row(info: CorpusInfo, is_default: bool) -> str:
    name = f"{info.name} (default)" if is_default else info.name
    title = f"{info.title} ({info.source})" if info.source else info.title
    if info.state != "ready":
        return f"{name}\t{title}\t{info.message} Fix it with: {info.fix}"
    size = f"{info.passages:,} passages, {info.bytes / 1e6:,.1f} MB"
    return f"{name}\t{title}\t{info.kind}, {size}, {info.built_at}\t{info.state}"


@corpus.command("remove")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(name: str, yes: bool) -> None:
    """Remove the corpus NAME, or what an unfinished build of it left. A running server stops finding it at once."""
    settings = _settings()
    folder = folder_of(settings.instance, name)
    info = next((each for each in installed(settings.instance) if each.name == name), None)
    if info is None:
        raise InvalidInput(f"There is no corpus {name}.")
    check_removable(name, default_corpora(settings))
    if not yes:
        click.confirm(f"Remove {info.title}, {info.passages:,} passages?", abort=True)
    remove_corpus(folder)
    click.echo(f"removed {name}")


def _java(settings: Settings) -> Java:
    return Java(settings.java_home, settings.java_memory)


def _settings() -> Settings:
    return services().settings
