"""BM25 over a small corpus: search results, index builds, damage checks and rebuilding under a running server."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from shutil import rmtree

import pytest

from app.backends.corpus.bm25 import Bm25Retriever
from app.backends.corpus.index import (
    LAYOUT_VERSION,
    MANIFEST,
    install_index,
    manifest_for,
    read_complete,
    read_verified,
)
from app.backends.corpus.registry import Article, Corpus, build_built_in, is_current
from app.config import FLASK
from app.domain.errors import ModelUnavailable
from app.domain.model import Origin

# Starting Java takes ten seconds, and minutes on a machine that is busy with training.
pytestmark = pytest.mark.timeout(300)

ARTICLES = (
    Article("Hamlet", "Play by Shakespeare. A tragedy about the prince of Denmark.", "Play by Shakespeare", "Arts"),
    Article("Denmark", "Country in Europe. Its capital is Copenhagen.", "Country in Europe", "Geography"),
    Article("Kenya", "Country in Africa. Its capital is Nairobi.", "Country in Africa", "Geography"),
    Article("Recep Tayyip Erdoğan", "President of Turkey since 2014.", "President of Turkey", "People"),
    Article("東京", "Capital of Japan.", "", "Geography"),
)


def corpus_of(source, *articles: Article) -> Corpus:
    return Corpus("small", "A small corpus", "Nowhere, CC0", lambda: source, lambda: articles)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    source = tmp_path_factory.mktemp("source") / "small.json"
    source.write_text("five articles")
    return corpus_of(source, *ARTICLES)


@pytest.fixture(scope="module")
def index(tmp_path_factory, small):
    folder = tmp_path_factory.mktemp("corpora") / "small"
    build_built_in(small, folder)
    return folder


@pytest.fixture(scope="module")
def retriever(index):
    return Bm25Retriever(index)


@pytest.fixture
def written(tmp_path):
    """A corpus with a valid manifest and two files that are not a real Lucene index."""
    folder = tmp_path / "vital"
    made = folder / "made"
    made.mkdir(parents=True)
    (made / "segments_1").write_bytes(b"segments")
    (made / "_0.fdt").write_bytes(b"texts")
    install_index(folder, made, manifest_for("vital", "A small corpus", "Nowhere, CC0", "built-in", 5, made, "source"))
    return folder


def index_of(folder):
    return folder / read_complete(folder).index


def titles(passages) -> list[str]:
    return [passage.title for passage in passages]


@pytest.mark.jvm
class TestSearching:
    def test_the_best_passage_comes_first_with_title_source_and_url(self, retriever):
        best = retriever.retrieve("What is the capital of Kenya?", 3)[0]
        assert (best.title, best.text) == ("Kenya", "Country in Africa. Its capital is Nairobi.")
        assert (best.source, best.url) == ("A small corpus (Nowhere, CC0)", "https://en.wikipedia.org/wiki/Kenya")
        assert best.origin is Origin.CORPUS
        assert best.score > 0

    def test_a_title_match_ranks_above_a_text_match(self, retriever):
        assert titles(retriever.retrieve("Denmark", 2)) == ["Denmark", "Hamlet"]

    def test_a_query_in_another_script_is_found(self, retriever):
        assert titles(retriever.retrieve("東京", 1)) == ["東京"]

    @pytest.mark.parametrize("query", ["", "   ", "?!", "🦖", "the of and", "x" * 500, "Москва", "\x00"])
    def test_a_query_that_matches_nothing_finds_nothing(self, retriever, query):
        assert retriever.retrieve(query, 5) == ()

    @pytest.mark.parametrize(
        "query",
        ['"Hamlet', "Hamlet AND (", "title: Hamlet^2", "Hamlet~ [a TO", "Hamlet 🦖", "Hamlet \ud800", "\\Hamlet*"],
    )
    def test_query_syntax_is_treated_as_plain_text(self, retriever, query):
        assert "Hamlet" in titles(retriever.retrieve(query, 5))

    def test_concurrent_first_searches_return_the_same_results(self, index):
        fresh = Bm25Retriever(index)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: titles(fresh.retrieve("capital of Kenya", 1)), range(32)))
        assert found == [["Kenya"]] * 32

    def test_an_index_that_lucene_cannot_read_is_reported_as_damaged(self, written):
        with pytest.raises(ModelUnavailable, match=r"vital is damaged.*make corpus"):
            Bm25Retriever(written).retrieve("Hamlet", 1)


@pytest.mark.jvm
class TestBuilding:
    def test_an_index_is_current_until_its_source_changes(self, index, small, tmp_path):
        changed = tmp_path / "changed.json"
        changed.write_text("six articles")
        assert is_current(small, index)
        assert not is_current(corpus_of(changed, *ARTICLES), index)

    def test_an_interrupted_build_keeps_the_old_index(self, small, written):
        def break_off(line: str) -> None:
            if line.startswith("indexed"):
                raise KeyboardInterrupt

        before = read_verified(written)
        with pytest.raises(KeyboardInterrupt):
            build_built_in(small, written, say=break_off)
        assert read_verified(written) == before


class TestDamage:
    def test_a_missing_index_is_reported_as_missing(self, tmp_path):
        with pytest.raises(ModelUnavailable, match=r"vital is missing.*make corpus") as raised:
            Bm25Retriever(tmp_path / "vital").retrieve("Hamlet", 1)
        assert raised.value.fix == "make corpus"

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"corpus": "small"}', "\x00"])
    def test_a_damaged_manifest_is_reported(self, written, content):
        (written / MANIFEST).write_text(content)
        with pytest.raises(ModelUnavailable, match="damaged"):
            read_verified(written)

    @pytest.mark.parametrize("harm", ["cut off", "changed", "gone", "added"])
    def test_full_verification_detects_any_change_to_the_files(self, written, harm):
        texts = index_of(written) / "_0.fdt"
        {
            "cut off": lambda: texts.write_bytes(b"tex"),
            "changed": lambda: texts.write_bytes(b"taxes"),
            "gone": texts.unlink,
            "added": lambda: texts.with_name("_1.fdt").write_bytes(b"more"),
        }[harm]()
        with pytest.raises(ModelUnavailable, match=r"vital is damaged.*make corpus"):
            read_verified(written)

    @pytest.mark.parametrize("harm", ["cut off", "gone"])
    def test_the_quick_check_detects_truncated_or_missing_files(self, written, harm):
        texts = index_of(written) / "_0.fdt"
        {"cut off": lambda: texts.write_bytes(b"tex"), "gone": texts.unlink}[harm]()
        with pytest.raises(ModelUnavailable, match="damaged"):
            read_complete(written)

    @pytest.mark.parametrize(
        ("kind", "name", "source", "fix"),
        [
            ("built", "rivers", "Nobody, CC0", "corpus build rivers --from PATH --replace"),
            ("built", "de-wikipedia", "Wikipedia of 1 May 2026, CC0", "corpus fetch de-wikipedia --replace"),
            ("built", "my-wikipedia", "My notes", "corpus build my-wikipedia --from PATH --replace"),
        ],
    )
    @pytest.mark.parametrize("layout", [LAYOUT_VERSION, LAYOUT_VERSION - 1])
    def test_the_fix_of_a_damaged_index_repeats_the_way_in_which_it_was_made(
        self, tmp_path, kind, name, source, fix, layout
    ):
        folder = tmp_path / name
        made = folder / "made"
        made.mkdir(parents=True)
        (made / "segments_1").write_bytes(b"segments")
        manifest = manifest_for(name, "A title", source, kind, 5, made)
        install_index(folder, made, replace(manifest, layout=layout))
        rmtree(folder / manifest.index)
        with pytest.raises(ModelUnavailable) as raised:
            read_complete(folder)
        assert raised.value.fix == f"{FLASK} {fix}"

    def test_an_index_of_another_layout_version_is_not_current(self, written, small):
        manifest = json.loads((written / MANIFEST).read_text())
        (written / MANIFEST).write_text(json.dumps(manifest | {"layout": LAYOUT_VERSION - 1}))
        assert not is_current(small, written)
        with pytest.raises(ModelUnavailable, match="another version"):
            read_verified(written)


@pytest.mark.jvm
class TestChangesWhileServing:
    """The index is rebuilt or removed on the command line while a server has it open."""

    def test_a_rebuilt_index_is_used_without_a_restart(self, small, index, tmp_path):
        folder = tmp_path / "small"
        build_built_in(small, folder)
        retriever = Bm25Retriever(folder)
        assert titles(retriever.retrieve("Nairobi", 1)) == ["Kenya"]
        before = index_of(folder)
        build_built_in(corpus_of(small.file(), Article("Nairobi", "A city.", "", "Geography")), folder)
        assert titles(retriever.retrieve("Nairobi", 5)) == ["Nairobi"]
        assert not before.exists()

    def test_searches_succeed_during_repeated_rebuilds(self, small, tmp_path):
        folder = tmp_path / "small"
        build_built_in(small, folder)
        retriever = Bm25Retriever(folder)
        with ThreadPoolExecutor(4) as pool:
            searches = [pool.submit(retriever.retrieve, "capital of Kenya", 1) for _ in range(200)]
            for _ in range(3):
                build_built_in(small, folder)
            assert {titles(each.result())[0] for each in searches} == {"Kenya"}

    def test_a_removed_index_is_reported_as_missing_until_it_is_rebuilt(self, small, tmp_path):
        folder = tmp_path / "small"
        build_built_in(small, folder)
        retriever = Bm25Retriever(folder)
        retriever.open()
        rmtree(folder)
        with pytest.raises(ModelUnavailable, match="small is missing"):
            retriever.retrieve("Nairobi", 1)
        build_built_in(small, folder)
        assert titles(retriever.retrieve("Nairobi", 1)) == ["Kenya"]
