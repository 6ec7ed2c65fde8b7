"""Reading JSON lines and KILT's knowledge source as a stream; every broken line is reported."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.backends.corpus.formats import MAX_LINE_BYTES, entries, format_of, passages_of
from app.backends.fetch.sandbox import UnreadableSource

GOOD = {"id": "1", "title": "Nairobi", "contents": "It is a city.", "url": "https://example.org/nairobi"}
KILT = {
    "wikipedia_id": "127",
    "wikipedia_title": "Kenya",
    "text": ["Kenya\n", "Kenya is a country.\n", "Section::::Geography.\n", "BULLET::::- Mount Kenya\n"],
    "history": {"url": "https://en.wikipedia.org/w/index.php?title=Kenya&oldid=1"},
}


def write(path: Path, *lines: dict | str | bytes) -> Path:
    def as_bytes(line):
        text = json.dumps(line) if isinstance(line, dict) else line
        return text if isinstance(text, bytes) else text.encode()

    path.write_bytes(b"".join(as_bytes(line) + b"\n" for line in lines))
    return path


def read(path: Path, format: str = "jsonl"):
    return list(entries(path, format, path.parent))


@pytest.fixture
def source(tmp_path):
    return tmp_path / "facts.jsonl"


class TestJsonLines:
    def test_a_line_is_a_document(self, source):
        (entry,) = read(write(source, GOOD))
        found = entry.document
        assert (found.id, found.title, list(found.paragraphs)) == ("1", "Nairobi", ["It is a city."])
        assert found.url == "https://example.org/nairobi"

    def test_title_and_url_may_be_left_out_and_contents_may_be_called_text(self, source):
        found = [entry.document for entry in read(write(source, {"id": 7, "text": "A city."}, GOOD | {"url": None}))]
        assert (found[0].id, found[0].title, list(found[0].paragraphs)) == ("7", "", ["A city."])
        assert found[1].url is None

    def test_empty_lines_a_byte_order_mark_and_a_missing_last_newline_are_accepted(self, source):
        source.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\n  \n" + json.dumps(GOOD).encode())
        assert [entry.problem for entry in read(source)] == ["", ""]

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ('{"id": "1", "contents"', "is no JSON"),
            ("[" * 100_000, "is no JSON"),
            ("[1]", "is no JSON object"),
            (b'{"id": "1", "contents": "caf\xe9"}', "is not UTF-8"),
            (GOOD | {"id": None}, 'has no "id"'),
            (GOOD | {"id": " "}, 'has no "id"'),
            (GOOD | {"id": True}, 'has no "id"'),
            (GOOD | {"id": "x" * 600}, 'has an "id" of more than 500 characters'),
            (GOOD | {"contents": None}, 'has no text as its "contents"'),
            (GOOD | {"title": ["a"]}, 'has no text as its "title"'),
            (GOOD | {"contents": "half \ud800"}, 'has half a character in its "contents"'),
            (GOOD | {"url": "javascript:alert(1)"}, 'has a "url" that is no web address'),
            (GOOD | {"url": 'https://a/"onclick="b'}, 'has a "url" that is no web address'),
        ],
    )
    def test_a_broken_line_is_reported_and_the_next_one_is_read(self, source, line, problem):
        found = read(write(source, GOOD, line, GOOD))
        assert [(entry.where, entry.problem) for entry in found] == [
            ("facts.jsonl, line 1", ""),
            ("facts.jsonl, line 2", problem),
            ("facts.jsonl, line 3", ""),
        ]

    def test_an_overlong_line_is_skipped_without_loading_it_whole(self, source):
        write(source, GOOD, b"x" * (3 * MAX_LINE_BYTES), GOOD)
        tracemalloc.start()
        found = read(source)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert [entry.problem for entry in found] == ["", "is longer than 32 MB", ""]
        assert found[2].where == "facts.jsonl, line 3"
        assert peak < 2.5 * MAX_LINE_BYTES

    def test_memory_does_not_grow_with_the_file(self, source):
        def most(lines: int) -> int:
            text = "The river flows through nine old towns to the sea. " * 40
            write(source, *({"id": str(number), "contents": text} for number in range(lines)))
            tracemalloc.start()
            for entry in entries(source, "jsonl", source.parent):
                for _ in passages_of(entry.document.paragraphs):
                    pass
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return peak

        most(10)  # loads the sentence splitter
        assert most(400) < most(50) + 100_000


class TestKilt:
    def test_markup_and_the_repeated_title_are_removed(self, source):
        found = read(write(source, KILT), "kilt")[0].document
        assert (found.id, found.title) == ("127", "Kenya")
        assert [line.strip() for line in found.paragraphs] == ["Kenya is a country.", "Mount Kenya"]
        assert found.url == "https://en.wikipedia.org/w/index.php?title=Kenya&oldid=1"

    def test_a_page_without_a_url_gets_its_wikipedia_url(self, source):
        found = read(write(source, KILT | {"history": None, "wikipedia_title": "AC/DC live?"}), "kilt")[0].document
        assert found.url == "https://en.wikipedia.org/wiki/AC/DC_live%3F"

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"text": "Kenya"}, 'has no list of paragraphs as its "text"'),
            ({"text": ["Kenya", None]}, 'has no list of paragraphs as its "text"'),
            ({"wikipedia_title": None}, 'has no text as its "wikipedia_title"'),
            ({"wikipedia_id": ""}, 'has no "wikipedia_id"'),
        ],
    )
    def test_a_broken_page_is_reported(self, source, change, problem):
        assert read(write(source, KILT | change), "kilt")[0].problem == problem


class TestAuto:
    def test_kilt_and_plain_json_lines_are_distinguished_by_the_first_line(self, tmp_path):
        assert format_of(write(tmp_path / "a.json", "", KILT)) == "kilt"
        assert format_of(write(tmp_path / "b.json", GOOD)) == "jsonl"

    def test_folders_and_single_text_files_use_the_folder_format(self, tmp_path):
        assert format_of(tmp_path) == "folder"
        assert format_of(write(tmp_path / "notes.md", "# Notes")) == "folder"

    def test_a_folder_of_parquet_files_alone_uses_the_wikipedia_format(self, tmp_path):
        (tmp_path / "part").mkdir()
        (tmp_path / "part" / "a.parquet").write_bytes(b"")
        assert format_of(tmp_path) == "wikipedia"
        (tmp_path / "notes.md").write_text("# Notes")
        assert format_of(tmp_path) == "folder"

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"id,contents\n", json.dumps(GOOD).encode("utf-16")])
    def test_other_file_types_are_refused(self, tmp_path, content):
        (tmp_path / "table.csv").write_bytes(content)
        with pytest.raises(UnreadableSource, match="no format that is known"):
            format_of(tmp_path / "table.csv")


LINE = st.one_of(
    st.binary(max_size=40),
    st.dictionaries(
        st.sampled_from(["id", "title", "contents", "url", "wikipedia_id", "wikipedia_title", "text", "history"]),
        st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), st.lists, max_leaves=3),
    ).map(lambda row: json.dumps(row).encode()),
)


@given(lines=st.lists(LINE, max_size=6), format=st.sampled_from(["jsonl", "kilt"]))
@example(lines=[b'{"id": "1", "contents": "\\ud800"}'], format="jsonl")
@example(lines=[b"1" * 5000], format="jsonl")
def test_arbitrary_bytes_never_end_reading_silently(tmp_path_factory, lines, format):
    source = tmp_path_factory.mktemp("any") / "any.jsonl"
    source.write_bytes(b"\n".join(lines))
    for entry in read(source, format):
        assert bool(entry.document) != bool(entry.problem)
        assert all(passages_of(entry.document.paragraphs if entry.document else []))
