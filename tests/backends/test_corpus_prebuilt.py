"""Pyserini's prebuilt indexes, with a local index of the same layout instead of a download."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import DEFAULT_JAVA, Bm25Retriever, best_passage
from app.backends.corpus.prebuilt import install_prebuilt
from app.backends.corpus.registry import about
from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.instrumentation import listening

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(300)]

SEA = "The river flows on and on to the sea. " * 60
DOCUMENTS = (
    {"id": "1", "contents": f"Thames\n{SEA}\nSection::::Mouth.\nBULLET::::- The Nore marks its estuary.\n{SEA}"},
    {"id": "2", "contents": '"Nile"\nThe Nile flows through Cairo.'},
    {"id": "3", "title": "Seine", "text": "The Seine flows through Paris.", "contents": "Seine The Seine flows."},
    {"id": "4", "contents": "No title, about the Danube."},
)


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    """An index with the layout of Pyserini's prebuilt ones: raw JSON stored, no title field."""
    folder = tmp_path_factory.mktemp("cache") / "lucene-index.rivers"
    return make(folder, "-storeRaw")


def make(folder: Path, *options: str) -> Path:
    indexer = jvm.start().index.LuceneIndexer(str(folder), args=["-index", str(folder), *options], threads=1)
    indexer.add_batch_raw([json.dumps(each) for each in DOCUMENTS])
    indexer.close()
    return folder


@pytest.fixture
def corpus(tmp_path) -> Path:
    return tmp_path / "corpora" / "rivers"


def install(corpus: Path, index: Path, **options):
    return install_prebuilt(
        "rivers", "rivers-doc", corpus, DEFAULT_JAVA, print, fetch=lambda name, say: index, **options
    )


def test_a_prebuilt_index_is_searched_in_place(corpus, index):
    manifest = install(corpus, index, title="Rivers", source="Somebody, CC0")
    assert (manifest.kind, manifest.count, Path(manifest.index)) == ("prebuilt", 4, index)
    with listening((said := []).append):
        best = Bm25Retriever(corpus).retrieve("Cairo", 1)[0]
    assert str(said[-1].phase) == "searching 4 documents"
    assert (best.title, best.text) == ("Nile", "The Nile flows through Cairo.")
    assert (best.source, best.url) == ("Rivers (Somebody, CC0)", None)
    assert about(corpus).state == "ready"


def test_the_best_passage_of_a_long_document_is_returned(corpus, index):
    install(corpus, index)
    best = Bm25Retriever(corpus).retrieve("Where is the estuary of the Thames?", 1)[0]
    assert best.title == "Thames"
    assert "The Nore marks its estuary." in best.text
    assert len(best.text.split()) < 130
    assert "::::" not in best.text


@pytest.mark.parametrize(
    ("query", "title", "text"),
    [
        ("Paris Seine", "Seine", "The Seine flows through Paris."),
        ("Danube", "4", "No title, about the Danube."),
    ],
)
def test_documents_with_a_separate_text_field_or_without_a_title_are_read(corpus, index, query, title, text):
    install(corpus, index)
    best = Bm25Retriever(corpus).retrieve(query, 1)[0]
    assert (best.title, best.text) == (title, text)


def test_an_index_without_stored_texts_is_refused(corpus, tmp_path):
    with pytest.raises(ModelUnavailable, match="does not keep the texts"):
        install(corpus, make(tmp_path / "bare"))
    assert not corpus.exists()


def test_a_folder_that_is_not_an_index_is_refused(corpus, tmp_path):
    with pytest.raises(ModelUnavailable, match="cannot be opened"):
        install(corpus, tmp_path)


def test_an_index_name_unknown_to_pyserini_is_invalid_input(corpus):
    with pytest.raises(InvalidInput, match="no prebuilt BM25 index nowhere-doc"):
        install_prebuilt("rivers", "nowhere-doc", corpus, DEFAULT_JAVA, print)


def test_an_unreachable_server_is_reported_in_one_sentence(corpus, tmp_path, monkeypatch):
    def unreachable(*address, **options):
        raise socket.gaierror("no such host")

    said = []
    monkeypatch.setenv("PYSERINI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    with pytest.raises(ModelUnavailable) as raised:
        install_prebuilt("rivers", "wikipedia-kilt-doc", corpus, DEFAULT_JAVA, said.append)
    assert str(raised.value).startswith("The prebuilt index wikipedia-kilt-doc could not be fetched (")
    assert "\n" not in str(raised.value)
    assert said == ["fetching wikipedia-kilt-doc, 10.9 GB, unless Pyserini has it already"]
    assert socket.getdefaulttimeout() is None
    assert not corpus.exists()


def test_a_disk_that_cannot_be_written_is_not_reported_as_an_unreachable_server(corpus, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("no folder")
    monkeypatch.setenv("PYSERINI_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ModelUnavailable, match=r"wikipedia-kilt-doc could not be written \(Not a directory\)\."):
        install_prebuilt("rivers", "wikipedia-kilt-doc", corpus, DEFAULT_JAVA, print)


def test_a_corpus_folder_that_cannot_be_made_is_reported_in_one_sentence(corpus, index):
    corpus.parent.write_text("no folder")
    with pytest.raises(ModelUnavailable, match=r"rivers could not be written \(Not a directory\)\."):
        install(corpus, index)


def test_the_best_passage_contains_the_rarer_words_of_the_question():
    passages = ("the river and the sea", "the river and the estuary", "the river")
    assert best_passage(passages, "the river and its estuary") == "the river and the estuary"
    assert best_passage((), "anything") == ""
