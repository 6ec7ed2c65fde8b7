"""A Wikipedia is fetched from a hub and becomes a corpus; an interrupted fetch goes on where it was."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from app.backends.corpus.bm25 import DEFAULT_JAVA, Bm25Retriever
from app.backends.corpus.index import MANIFEST, read_complete
from app.backends.corpus.registry import about
from app.backends.corpus.snapshots import find_wikipedia, install_wikipedia
from app.capabilities.availability import Availability
from app.components import CORPUS, MODEL, RERANKER, Components
from app.config import FLASK
from app.config.settings import Settings
from app.domain.errors import InvalidInput, ModelUnavailable
from tests.backends.hub_server import HubServer, point_to
from tests.waiting import LONG

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(300)

NAME = "simple-wikipedia"
PARTS = (MODEL, CORPUS, RERANKER)


def articles(*texts: str) -> bytes:
    """Return a Parquet file with these articles; its text does not compress, so that half of it is many bytes."""
    rows = [
        {"id": str(at), "url": f"https://simple.wikipedia.org/wiki/{at}", "title": f"Article {at}", "text": text}
        for at, text in enumerate(texts, 1)
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), file := io.BytesIO(), compression="none")
    return file.getvalue()


FILES = {
    "20220301.simple/train-00000-of-00001.parquet": articles("It is old."),
    "20231101.simple/train-00000-of-00001.parquet": articles(
        "Salzburg is a city.", "Mozart was a composer.\n\nEarly life\nMozart was born in Salzburg."
    ),
    "20231101.de/train-00000-of-00002.parquet": articles("Salzburg ist eine Stadt."),
    "20231101.de/train-00001-of-00002.parquet": articles("Wien ist eine Stadt."),
    "README.md": b"about",
}


@pytest.fixture
def hub(monkeypatch) -> Iterator[HubServer]:
    with HubServer(FILES, ["cc-by-sa-3.0", "gfdl"]) as server:
        point_to(monkeypatch, server.address)
        yield server


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "corpora" / NAME


def test_the_newest_snapshot_of_a_language_is_found_with_size_date_and_licence(hub):
    found = find_wikipedia(NAME)
    newest = "20231101.simple/train-00000-of-00001.parquet"
    assert (found.day, found.files) == (date(2023, 11, 1), {newest: len(FILES[newest])})
    assert (found.title, found.source) == ("Simple Wikipedia", "Wikipedia of 1 November 2023, CC BY-SA 3.0, GFDL")
    german = find_wikipedia("de-wikipedia")
    assert (german.title, len(german.files)) == ("German Wikipedia", 2)


@pytest.mark.parametrize("name", ["wikipedia", "Simple-wikipedia", "simple", "../x-wikipedia", "vital"])
def test_a_name_that_is_no_wikipedia_is_refused_without_a_request(hub, name):
    with pytest.raises(InvalidInput, match="a name is LANGUAGE-wikipedia"):
        find_wikipedia(name)
    assert hub.asked == []


def test_a_language_without_a_wikipedia_is_refused(hub):
    with pytest.raises(InvalidInput, match="There is no Wikipedia of the language xx"):
        find_wikipedia("xx-wikipedia")


@pytest.mark.jvm
def test_the_articles_are_found_with_title_source_and_address_and_the_files_are_removed(hub, folder):
    said: list[str] = []
    manifest, state = install_wikipedia(find_wikipedia(NAME), folder, DEFAULT_JAVA, said.append)
    assert (manifest.kind, manifest.count, state.documents) == ("built", 2, 2)
    assert said[0].startswith("fetching file 1 of 1")
    best = Bm25Retriever(folder).retrieve("Where was Mozart born?", 1)[0]
    assert best.text == "Mozart was a composer. Early life: Mozart was born in Salzburg."
    assert (best.title, best.url) == ("Article 2", "https://simple.wikipedia.org/wiki/2")
    assert best.source == "Simple Wikipedia (Wikipedia of 1 November 2023, CC BY-SA 3.0, GFDL)"
    assert sorted(each.name for each in folder.iterdir()) == sorted([MANIFEST, read_complete(folder).index])


@pytest.mark.jvm
def test_a_cut_download_goes_on_where_it_was(hub, folder, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 4)  # what is kept of a cut download ends with a whole chunk
    found = find_wikipedia(NAME)
    hub.cut = True
    with pytest.raises(ModelUnavailable, match="could not be fetched"):
        install_wikipedia(found, folder, DEFAULT_JAVA, print)
    assert about(folder).fix == f"{FLASK} corpus fetch simple-wikipedia --replace"
    hub.cut = False
    hub.ranges.clear()
    install_wikipedia(found, folder, DEFAULT_JAVA, print)
    assert hub.ranges == [next(iter(found.files.values())) // 2]


def test_a_disk_that_cannot_be_written_is_not_reported_as_an_unreachable_hub(hub, folder):
    found = find_wikipedia(NAME)
    folder.mkdir(parents=True)
    (folder / "download").write_text("no folder")
    with pytest.raises(ModelUnavailable, match=r"^simple-wikipedia could not be written \(Not a directory\)\."):
        install_wikipedia(found, folder, DEFAULT_JAVA, print)


def test_a_file_that_arrives_damaged_is_not_kept(hub, folder, monkeypatch):
    found = find_wikipedia(NAME)
    monkeypatch.setattr(hub, "tag", "a" * 64)
    with pytest.raises(ModelUnavailable, match="was damaged during the download"):
        install_wikipedia(found, folder, DEFAULT_JAVA, print)
    assert [each for each in folder.rglob("*") if each.is_file()] == []


@pytest.mark.jvm
def test_a_newer_snapshot_replaces_the_download_of_an_older_one(hub, folder):
    def interrupted(line: str) -> None:
        if line == "starting Java":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install_wikipedia(find_wikipedia(NAME), folder, DEFAULT_JAVA, interrupted)
    hub.files = {"20240101.simple/train-00000-of-00001.parquet": articles("It is new.")}
    manifest, _ = install_wikipedia(find_wikipedia(NAME), folder, DEFAULT_JAVA, print)
    assert manifest.count == 1
    assert sorted(each.name for each in folder.iterdir()) == sorted([MANIFEST, read_complete(folder).index])


def fetch(hub: HubServer, instance: Path, *arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    """Run `corpus fetch` in a process of its own, with the hub that HF_ENDPOINT names."""
    settings = {"HF_ENDPOINT": hub.address, "INSTANCE": str(instance), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    command = [sys.executable, "-m", "flask", "--app", "app", "corpus", "fetch", NAME, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | settings, input=answer, capture_output=True, text=True, timeout=LONG
    )


def test_the_command_says_size_and_licence_first_and_fetches_nothing_without_a_yes(hub, tmp_path):
    done = fetch(hub, tmp_path, answer="n\n")
    assert done.returncode == 1
    assert "Simple Wikipedia of 2023-11-01: 1 file, 0.0 MB, licence CC BY-SA 3.0, GFDL." in done.stdout
    assert hub.ranges == [] and not (tmp_path / "corpora").exists()


@pytest.mark.jvm
def test_the_command_makes_a_source_that_is_chosen_by_its_name(hub, tmp_path):
    done = fetch(hub, tmp_path, "--yes")
    assert done.returncode == 0, done.stderr
    assert "simple-wikipedia: 2 passages of 2 documents" in done.stdout
    settings = replace(Settings.from_env({}), instance=tmp_path)
    sources = Availability(settings, Components([(part, lambda: None) for part in PARTS]), ()).capabilities().sources
    assert [(each.title, each.available) for each in sources if each.name == NAME] == [("Simple Wikipedia", True)]
    again = fetch(hub, tmp_path, "--yes")
    assert again.returncode == 2 and "add --replace" in again.stderr
