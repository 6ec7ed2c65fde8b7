"""Building a corpus: an interrupted build leaves nothing, a refused one keeps the old corpus, problems are listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from filelock import FileLock

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import DEFAULT_JAVA, Bm25Retriever
from app.backends.corpus.builder import BuildRequest, ProgressReporter, build_corpus, checked_name
from app.backends.corpus.index import BUILDING, BUILT_IN, PROBLEMS, read_complete
from app.backends.corpus.registry import CORPORA, about, installed
from app.domain.errors import InvalidInput, ModelUnavailable

pytestmark = pytest.mark.timeout(300)


def write(path: Path, *rows: dict | str) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def river(number: int, sentences: int = 1) -> dict:
    text = " ".join(f"River {number} flows past town {number}x{each}." for each in range(sentences))
    return {"id": str(number), "title": f"River {number}", "contents": text, "url": f"https://example.org/{number}"}


class Place:
    """One corpus's folder and source, with methods to build it."""

    def __init__(self, tmp_path: Path) -> None:
        self.source = tmp_path / "rivers.jsonl"
        self.folder = tmp_path / "corpora" / "rivers"
        self.said: list[str] = []

    def build(self, say=None, **options):
        order = {each: options.pop(each) for each in ("refuse", "title", "source", "format") if each in options}
        say = say or self.said.append
        return build_corpus(BuildRequest("rivers", self.source, **order), self.folder, DEFAULT_JAVA, say, **options)

    def texts(self) -> list[str]:
        """Return the text of every passage of the index, in index order."""
        searcher = jvm.start().search.LuceneSearcher(str(self.folder / read_complete(self.folder).index))
        rows = [json.loads(searcher.doc(number).raw()) for number in range(searcher.num_docs)]
        searcher.close()
        return [row["contents"] for row in rows]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.mark.jvm
class TestBuilding:
    def test_passages_of_a_document_are_found_with_title_source_and_url(self, place):
        write(place.source, river(1, 40), river(2))
        manifest, state = place.build(title="Rivers", source="Nowhere, CC0")
        assert (state.documents, state.passages) == (2, manifest.count)
        assert manifest.count > 2
        best = Bm25Retriever(place.folder).retrieve("town 2x0", 1)[0]
        assert (best.title, best.text) == ("River 2", "River 2 flows past town 2x0.")
        assert (best.source, best.url) == ("Rivers (Nowhere, CC0)", "https://example.org/2")

    def test_no_passage_spans_two_documents(self, place):
        write(place.source, *(river(number, 3) for number in range(20)))
        place.build()
        for text in place.texts():
            title, _, body = text.partition("\n")
            assert {f"River {word}" for word in body.split() if word.isdigit()} == {title}

    def test_a_bad_file_in_a_folder_is_skipped_and_reported(self, place, tmp_path):
        place.source = tmp_path / "folder"
        place.source.mkdir()
        (place.source / "good.txt").write_text("The Thames flows through London.")
        (place.source / "bad.pdf").write_text("no PDF")
        (place.source / "empty.txt").write_text(" \n")
        _, state = place.build()
        assert (state.documents, state.problems) == (1, 2)
        named = (place.folder / PROBLEMS).read_text()
        assert named == "bad.pdf is no PDF that can be read\nempty.txt holds no text\n"

    def test_every_broken_line_is_skipped_and_reported(self, place):
        write(place.source, river(1), "broken", river(1), river(2) | {"contents": "  "}, river(3))
        _, state = place.build()
        assert (state.documents, state.problems) == (2, 3)
        assert (place.folder / PROBLEMS).read_text().splitlines() == [
            "rivers.jsonl, line 2 is no JSON",
            'rivers.jsonl, line 3 has the id "1" of rivers.jsonl, line 1',
            "rivers.jsonl, line 4 holds no text",
        ]
        assert "left out: rivers.jsonl, line 2 is no JSON" in place.said


@pytest.mark.jvm
class TestRefusing:
    def test_the_first_broken_line_ends_a_strict_build(self, place):
        write(place.source, river(1), "broken")
        with pytest.raises(InvalidInput, match=r"^rivers\.jsonl, line 2 is no JSON; nothing was built\.$"):
            place.build(refuse=True)
        assert not place.folder.exists()

    @pytest.mark.parametrize("content", ["broken\n", '{"id": "1", "contents": ""}\n'])
    def test_a_source_without_passages_is_refused(self, place, content):
        place.source.write_text(content)
        with pytest.raises(InvalidInput, match="holds no passage; nothing was built"):
            place.build(format="jsonl")
        assert not place.folder.exists()

    def test_without_java_the_source_is_not_read_and_nothing_is_written(self, place, monkeypatch):
        def missing(home):
            raise ModelUnavailable("There is no Java", fix="make install")

        monkeypatch.setattr(jvm, "choose_java", missing)
        write(place.source, river(1))
        with pytest.raises(ModelUnavailable, match="There is no Java"):
            place.build()
        assert not place.folder.exists() and place.said == []

    @pytest.mark.parametrize(
        ("name", "format", "sentence"),
        [
            ("notes.rst", "folder", "is no text, Markdown, HTML, PDF or Word file"),
            ("notes", "jsonl", "is a folder, and the format jsonl is one file"),
        ],
    )
    def test_a_source_of_another_kind_than_its_format_is_refused(self, place, tmp_path, name, format, sentence):
        place.source = tmp_path / name
        place.source.mkdir() if format == "jsonl" else place.source.write_text("notes")
        with pytest.raises(InvalidInput, match=sentence):
            place.build(format=format)
        assert not place.folder.exists()

    @pytest.mark.parametrize(
        "name", ["", ".", "..", "a/b", "../a", "a..b", ".a", "a.", "-a", "A", "ä", "a b", "x" * 65]
    )
    def test_an_unsafe_folder_name_is_refused(self, name):
        with pytest.raises(InvalidInput, match="small letters"):
            checked_name(name)

    def test_the_name_of_a_built_in_corpus_is_refused(self):
        assert set(BUILT_IN) == set(CORPORA)
        with pytest.raises(InvalidInput, match="built in"):
            checked_name("vital")


@pytest.mark.jvm
class TestReplacing:
    @pytest.fixture
    def built(self, place):
        write(place.source, river(1))
        place.build()
        return place

    def test_an_existing_corpus_is_replaced_only_on_request(self, built):
        write(built.source, river(2))
        with pytest.raises(InvalidInput, match="--replace"):
            built.build()
        built.build(replaces=True)
        assert built.texts() == ["River 2\nRiver 2 flows past town 2x0."]

    @pytest.mark.parametrize("fault", ["refused", "empty", "not utf-8", "no folder"])
    def test_a_failed_build_leaves_the_old_corpus_untouched(self, built, fault):
        before = {path: path.read_bytes() for path in built.folder.rglob("*") if path.is_file()}
        {
            "refused": lambda: write(built.source, river(1), "broken"),
            "empty": lambda: write(built.source, {"id": "1", "contents": ""}),
            "not utf-8": lambda: built.source.write_text("{}", encoding="utf-16"),
            "no folder": built.source.unlink,
        }[fault]()
        with pytest.raises(InvalidInput):
            built.build(replaces=True, refuse=True)
        assert {path: path.read_bytes() for path in built.folder.rglob("*") if path.is_file()} == before

    def test_the_old_corpus_is_searched_until_the_new_one_is_complete(self, built):
        retriever = Bm25Retriever(built.folder)
        write(built.source, *(river(number) for number in range(2, 30)))
        found = []

        def search(line: str) -> None:
            found.append({passage.title for passage in retriever.retrieve("river", 50)})

        built.build(search, replaces=True)
        assert found == [{"River 1"}] * len(found) != []
        assert len(retriever.retrieve("river", 50)) == 28


@pytest.mark.jvm
class TestInterruptions:
    def test_an_interrupted_build_leaves_nothing_and_is_repeated_by_the_same_command(self, place):
        def break_off(line: str) -> None:
            raise KeyboardInterrupt

        write(place.source, river(1), "broken")
        with pytest.raises(KeyboardInterrupt):
            place.build(break_off)
        assert not place.folder.exists()
        place.build()
        assert len(place.texts()) == 1

    def test_what_a_killed_build_left_is_listed_as_unfinished_and_replaced(self, place):
        (place.folder / BUILDING / "index").mkdir(parents=True)
        (place.folder / BUILDING / "ids.sqlite3").write_bytes(b"half a file")
        assert about(place.folder).state == "unfinished"
        write(place.source, river(1))
        place.build()
        assert len(place.texts()) == 1 and not (place.folder / BUILDING).exists()

    def test_two_builds_of_one_corpus_cannot_run_at_once(self, place):
        write(place.source, river(1))
        (place.folder / BUILDING).mkdir(parents=True)
        with (
            FileLock(place.folder / BUILDING / "lock"),
            pytest.raises(InvalidInput, match="Another build of the corpus rivers is running"),
        ):
            place.build()
        place.build()

    def test_a_build_in_a_folder_that_cannot_be_made_is_reported_in_one_sentence(self, place):
        write(place.source, river(1))
        place.folder.parent.write_text("no folder")
        with pytest.raises(ModelUnavailable, match=r"The build of rivers broke off \(Not a directory\)"):
            place.build()


class TestInstalled:
    @pytest.mark.jvm
    def test_a_built_corpus_is_listed_with_its_details(self, place):
        write(place.source, river(1), river(2))
        place.build(title="Rivers", source="Nowhere, CC0")
        info = installed(place.folder.parent.parent)[1]
        assert (info.name, info.title, info.source, info.kind) == ("rivers", "Rivers", "Nowhere, CC0", "built")
        assert (info.state, info.passages, info.fix) == ("ready", 2, "")
        assert info.bytes == sum(
            path.stat().st_size for path in (place.folder / read_complete(place.folder).index).iterdir()
        )
        assert info.built_at.endswith("+00:00")


class TestProgress:
    def test_speed_share_and_time_left_are_reported_every_two_seconds(self):
        said, now = [], [0.0]
        pace = ProgressReporter(100_000_000, said.append, lambda: now[0])
        for second in range(11):
            now[0] = float(second)
            pace.report(second * 5_000_000, second * 10, second * 100)
        assert len(said) == 5
        assert said[-1] == "50% read: 100 documents, 1,000 passages, 5.0 MB/s, 10 s left"
