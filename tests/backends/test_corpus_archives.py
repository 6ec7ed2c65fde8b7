"""Articles are read from Parquet and ZIM files, cut at their sections, from any position on."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from app.backends.corpus.archives import parquet_articles, sections, zim_articles
from app.backends.corpus.documents import Unreadable
from app.backends.corpus.formats import entries, format_of, passages_of, total_bytes

MOZART = (
    "Mozart was a composer.\n\nEarly life \nHe was born in Salzburg. "
    + "His father taught him music at home, and he wrote his first pieces at the age of five. " * 3
    + "\n\nWorks\n\nOperas\n\nHe wrote The Magic Flute.\n\nReferences\n\nOther websites"
)


def write(path: Path, *texts: str, group: int = 2) -> Path:
    path.parent.mkdir(exist_ok=True)
    rows = [
        {
            "id": f"{path.stem}{at}",
            "url": f"https://simple.wikipedia.org/wiki/{at}",
            "title": f"Article {at}",
            "text": text,
        }
        for at, text in enumerate(texts)
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=group)
    return path


def test_a_heading_begins_a_section_and_is_kept_before_its_text():
    found = list(sections(MOZART))
    assert found[:2] == ["Mozart was a composer.", found[1]] and found[1].startswith("Early life: He was born")
    assert found[2:] == [None, "Works: Operas: He wrote The Magic Flute."]


def test_no_passage_crosses_two_sections():
    found = list(passages_of(sections(MOZART)))
    assert len(found) == 2 and "Magic Flute" not in found[0] and found[1].startswith("Works: Operas:")


def test_every_article_has_its_id_title_and_address_across_files(tmp_path):
    write(tmp_path / "a.parquet", "One.", "Two.", "Three.")
    write(tmp_path / "b.parquet", "Four.")
    found = list(parquet_articles(tmp_path, None))
    assert [each.document.id for each in found] == ["a0", "a1", "a2", "b0"]
    assert found[2].document.title == "Article 2" and found[2].document.url == "https://simple.wikipedia.org/wiki/2"
    assert found[-1].read == total_bytes(tmp_path, "wikipedia")


def test_reading_resumes_after_any_article_of_any_file(tmp_path):
    write(tmp_path / "a.parquet", "One.", "Two.", "Three.")
    write(tmp_path / "b.parquet", "Four.", "Five.")
    whole = list(parquet_articles(tmp_path, None))
    for at, entry in enumerate(whole):
        rest = parquet_articles(tmp_path, entry.position)
        assert [each.where for each in rest] == [each.where for each in whole[at + 1 :]]


def test_unfinished_downloads_in_hidden_folders_are_not_read(tmp_path):
    write(tmp_path / "a.parquet", "One.")
    write(tmp_path / ".cache" / "b.parquet", "Two.")
    assert [each.document.id for each in parquet_articles(tmp_path, None)] == ["a0"]


def test_a_file_that_is_no_parquet_or_lacks_a_column_is_named(tmp_path):
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 it is not PAR1")
    with pytest.raises(Unreadable, match=r"cannot be read as Parquet at broken\.parquet"):
        list(parquet_articles(broken, None))
    parquet.write_table(pyarrow.Table.from_pylist([{"id": "1", "url": "", "title": "A"}]), broken)
    with pytest.raises(Unreadable, match=r"has no column text in broken\.parquet"):
        list(parquet_articles(broken, None))


@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_a_file_with_a_damaged_page_is_named(tmp_path, compression):
    """Which error pyarrow raises depends on where the damage is."""
    path = tmp_path / "damaged.parquet"
    rows = [{"id": str(n), "url": "", "title": f"Title {n}", "text": f"Sentence {n}. " * 20} for n in range(200)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, compression=compression, use_dictionary=False)
    whole, named = path.read_bytes(), 0
    for place in range(4, len(whole) * 9 // 10, len(whole) // 20):
        path.write_bytes(whole[:place] + b"\xff" * 64 + whole[place + 64 :])
        try:
            list(parquet_articles(path, None))
        except Unreadable as error:
            named += "cannot be read as Parquet at damaged.parquet" in str(error)
    assert named > 10


def test_an_error_of_the_disk_is_not_called_damage(tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    write(tmp_path / "a.parquet", "One.")
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", fail)
    with pytest.raises(OSError, match="Input/output error"):
        list(parquet_articles(tmp_path, None))


def test_an_article_without_an_id_is_a_problem_of_that_article_alone(tmp_path):
    rows = [{"id": id, "url": None, "title": "A", "text": "Text."} for id in ("", "2")]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    first, second = parquet_articles(tmp_path, None)
    assert first.problem == "has no id" and second.document and second.document.id == "2"


@pytest.fixture
def encyclopedia(tmp_path) -> Path:
    """A ZIM file with two pages, a picture and a redirect, as Kiwix's have."""
    writer = pytest.importorskip("libzim.writer")

    class Item(writer.Item):
        def __init__(self, path: str, title: str, kind: str, content: str) -> None:
            super().__init__()
            self._about = path, title, kind, content

        def get_path(self) -> str:
            return self._about[0]

        def get_title(self) -> str:
            return self._about[1]

        def get_mimetype(self) -> str:
            return self._about[2]

        def get_contentprovider(self):
            return writer.StringProvider(self._about[3])

        def get_hints(self):
            return {}

    path = tmp_path / "rivers.zim"
    page = "<html><body><article><h1>{0}</h1><p>{1}</p></article></body></html>"
    with writer.Creator(path) as creator:
        creator.set_mainpath("Nile")
        thames = "The Thames is a river of England, and it flows through London to the North Sea."
        nile = "The Nile is a river of Africa, and it flows through Cairo to the Mediterranean Sea."
        creator.add_item(Item("Nile", "Nile", "text/html", page.format("Nile", nile)))
        creator.add_item(Item("Thames", "Thames", "text/html", page.format("Thames", thames)))
        creator.add_item(Item("map.png", "", "image/png", "no picture"))
        creator.add_redirection("River_Thames", "River Thames", "Thames", {})
        creator.add_metadata("Title", "Rivers")
    return path


def test_the_pages_of_a_zim_file_are_documents_and_reading_resumes(encyclopedia, tmp_path):
    assert format_of(encyclopedia) == "zim"
    found = list(entries(encyclopedia, "zim", None, tmp_path))
    assert {each.document.title for each in found} == {"Nile", "Thames"}
    assert any("flows through Cairo" in text for each in found for text in each.document.paragraphs)
    rest = list(zim_articles(encyclopedia, found[0].position))
    assert [each.where for each in rest] == [found[1].where]


def test_a_zim_file_without_libzim_names_the_package_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "libzim.reader", None)
    with pytest.raises(Unreadable, match="pip install libzim=="):
        list(zim_articles(tmp_path / "rivers.zim", None))


def test_a_file_that_is_no_zim_file_is_refused(tmp_path):
    pytest.importorskip("libzim.reader")
    (tmp_path / "rivers.zim").write_text("no ZIM")
    with pytest.raises(Unreadable, match="is no ZIM file"):
        list(zim_articles(tmp_path / "rivers.zim", None))
