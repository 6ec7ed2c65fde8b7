"""Articles are read from Parquet files, cut at their sections."""

from __future__ import annotations

import errno
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from app.backends.corpus.formats import parquet_articles, passages_of, sections, total_bytes
from app.backends.fetch.sandbox import UnreadableSource

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
    found = list(parquet_articles(tmp_path))
    assert [each.document.id for each in found] == ["a0", "a1", "a2", "b0"]
    assert found[2].document.title == "Article 2" and found[2].document.url == "https://simple.wikipedia.org/wiki/2"
    assert found[-1].read == total_bytes(tmp_path, "wikipedia")


def test_unfinished_downloads_in_hidden_folders_are_not_read(tmp_path):
    write(tmp_path / "a.parquet", "One.")
    write(tmp_path / ".cache" / "b.parquet", "Two.")
    assert [each.document.id for each in parquet_articles(tmp_path)] == ["a0"]


def test_a_file_that_is_no_parquet_or_lacks_a_column_is_named(tmp_path):
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 it is not PAR1")
    with pytest.raises(UnreadableSource, match=r"cannot be read as Parquet at broken\.parquet"):
        list(parquet_articles(broken))
    parquet.write_table(pyarrow.Table.from_pylist([{"id": "1", "url": "", "title": "A"}]), broken)
    with pytest.raises(UnreadableSource, match=r"has no column text in broken\.parquet"):
        list(parquet_articles(broken))


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
            list(parquet_articles(path))
        except UnreadableSource as error:
            named += "cannot be read as Parquet at damaged.parquet" in str(error)
    assert named > 10


def test_an_error_of_the_disk_is_not_called_damage(tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    write(tmp_path / "a.parquet", "One.")
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", fail)
    with pytest.raises(OSError, match="Input/output error"):
        list(parquet_articles(tmp_path))


def test_an_article_without_an_id_is_a_problem_of_that_article_alone(tmp_path):
    rows = [{"id": id, "url": None, "title": "A", "text": "Text."} for id in ("", "2")]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    first, second = parquet_articles(tmp_path)
    assert first.problem == "has no id" and second.document and second.document.id == "2"
