"""BM25 over a small corpus: what is found, what an index survives, and what is said when it did not."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
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
from app.domain.errors import ModelUnavailable
from app.domain.instrumentation import listening
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
    """A corpus that passes for a whole one as long as nobody opens its index: two files and their manifest."""
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
    def test_the_best_passage_comes_first_with_all_that_the_page_shows(self, retriever):
        best = retriever.retrieve("What is the capital of Kenya?", 3)[0]
        assert (best.title, best.text) == ("Kenya", "Country in Africa. Its capital is Nairobi.")
        assert (best.source, best.url) == ("A small corpus (Nowhere, CC0)", "https://en.wikipedia.org/wiki/Kenya")
        assert best.origin is Origin.CORPUS
        assert best.score > 0

    def test_the_title_is_searched_though_the_text_does_not_repeat_it(self, retriever):
        assert titles(retriever.retrieve("Erdoğan", 3)) == ["Recep Tayyip Erdoğan"]

    def test_a_match_in_the_title_goes_before_one_in_the_text(self, retriever):
        assert titles(retriever.retrieve("Denmark", 2)) == ["Denmark", "Hamlet"]

    def test_scores_fall_and_k_bounds_how_many_come(self, retriever):
        found = retriever.retrieve("capital country", 2)
        assert len(found) == 2
        assert found[0].score >= found[1].score

    def test_fewer_come_when_there_are_no_more(self, retriever):
        assert titles(retriever.retrieve("Hamlet", 50)) == ["Hamlet"]

    def test_another_script_is_found(self, retriever):
        assert titles(retriever.retrieve("東京", 1)) == ["東京"]

    @pytest.mark.parametrize("query", ["", "   ", "?!", "🦖", "the of and", "x" * 500, "Москва", "\x00"])
    def test_a_query_that_matches_nothing_finds_nothing(self, retriever, query):
        assert retriever.retrieve(query, 5) == ()

    @pytest.mark.parametrize(
        "query",
        ['"Hamlet', "Hamlet AND (", "title: Hamlet^2", "Hamlet~ [a TO", "Hamlet 🦖", "Hamlet \ud800", "\\Hamlet*"],
    )
    def test_nothing_in_a_query_is_syntax(self, retriever, query):
        assert "Hamlet" in titles(retriever.retrieve(query, 5))

    def test_none_are_asked_for_and_none_come(self, retriever):
        assert retriever.retrieve("Hamlet", 0) == ()

    def test_the_search_is_said_with_the_number_of_passages(self, retriever):
        said = []
        with listening(said.append):
            retriever.retrieve("Hamlet", 1)
        assert [event.phase for event in said] == ["searching 5 passages"]

    def test_threads_that_open_and_search_at_once_find_the_same(self, index):
        fresh = Bm25Retriever(index)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: titles(fresh.retrieve("capital of Kenya", 1)), range(32)))
        assert found == [["Kenya"]] * 32

    def test_lucene_files_that_lucene_cannot_read_are_named_damaged(self, written):
        with pytest.raises(ModelUnavailable, match=r"vital is damaged.*make corpus"):
            Bm25Retriever(written).retrieve("Hamlet", 1)


@pytest.mark.jvm
class TestBuilding:
    def test_the_manifest_says_what_is_in_it(self, index, small):
        manifest = read_verified(index)
        assert (manifest.corpus, manifest.count, manifest.layout) == ("small", 5, LAYOUT_VERSION)
        assert manifest.source_checksum == small.checksum()

    def test_an_index_is_current_until_its_source_changes(self, index, small, tmp_path):
        changed = tmp_path / "changed.json"
        changed.write_text("six articles")
        assert is_current(small, index)
        assert not is_current(corpus_of(changed, *ARTICLES), index)

    def test_building_again_replaces_what_was_there(self, small, written):
        build_built_in(small, written)
        assert titles(Bm25Retriever(written).retrieve("Kenya", 1)) == ["Kenya"]

    def test_a_build_that_breaks_off_leaves_the_index_that_was_there(self, small, written):
        def break_off(line: str) -> None:
            if line.startswith("indexed"):
                raise KeyboardInterrupt

        before = read_verified(written)
        with pytest.raises(KeyboardInterrupt):
            build_built_in(small, written, say=break_off)
        assert read_verified(written) == before


class TestDamage:
    def test_a_whole_index_is_accepted(self, written):
        assert read_verified(written).count == 5

    def test_a_missing_index_is_named_missing(self, tmp_path):
        with pytest.raises(ModelUnavailable, match=r"vital is missing.*make corpus") as raised:
            Bm25Retriever(tmp_path / "vital").retrieve("Hamlet", 1)
        assert raised.value.fix == "make corpus"

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"corpus": "small"}', "\x00"])
    def test_a_damaged_manifest_is_named(self, written, content):
        (written / MANIFEST).write_text(content)
        with pytest.raises(ModelUnavailable, match="damaged"):
            read_verified(written)

    @pytest.mark.parametrize("harm", ["cut off", "changed", "gone", "added"])
    def test_any_harm_to_a_file_is_noticed(self, written, harm):
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
    def test_a_quick_look_sees_files_that_are_cut_off_or_gone(self, written, harm):
        texts = index_of(written) / "_0.fdt"
        {"cut off": lambda: texts.write_bytes(b"tex"), "gone": texts.unlink}[harm]()
        with pytest.raises(ModelUnavailable, match="damaged"):
            read_complete(written)

    def test_the_index_of_another_version_is_built_anew(self, written, small):
        manifest = json.loads((written / MANIFEST).read_text())
        (written / MANIFEST).write_text(json.dumps(manifest | {"layout": LAYOUT_VERSION - 1}))
        assert not is_current(small, written)
        with pytest.raises(ModelUnavailable, match="another version"):
            read_verified(written)


@pytest.mark.jvm
class TestServingOn:
    """A server has the index open while it is built again or removed on the command line."""

    def test_an_index_that_was_built_again_is_found_without_a_restart(self, small, index, tmp_path):
        folder = tmp_path / "small"
        build_built_in(small, folder)
        retriever = Bm25Retriever(folder)
        assert titles(retriever.retrieve("Nairobi", 1)) == ["Kenya"]
        before = index_of(folder)
        build_built_in(corpus_of(small.file(), Article("Nairobi", "A city.", "", "Geography")), folder)
        assert titles(retriever.retrieve("Nairobi", 5)) == ["Nairobi"]
        assert not before.exists()

    def test_searches_go_on_while_it_is_built_again_and_again(self, small, tmp_path):
        folder = tmp_path / "small"
        build_built_in(small, folder)
        retriever = Bm25Retriever(folder)
        with ThreadPoolExecutor(4) as pool:
            searches = [pool.submit(retriever.retrieve, "capital of Kenya", 1) for _ in range(200)]
            for _ in range(3):
                build_built_in(small, folder)
            assert {titles(each.result())[0] for each in searches} == {"Kenya"}

    def test_one_that_was_removed_is_named_missing_and_found_when_it_is_back(self, small, tmp_path):
        folder = tmp_path / "small"
        build_built_in(small, folder)
        retriever = Bm25Retriever(folder)
        retriever.open()
        rmtree(folder)
        with pytest.raises(ModelUnavailable, match="small is missing"):
            retriever.retrieve("Nairobi", 1)
        build_built_in(small, folder)
        assert titles(retriever.retrieve("Nairobi", 1)) == ["Kenya"]
