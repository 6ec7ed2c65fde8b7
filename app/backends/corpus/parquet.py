"""Read Wikipedia's articles in Parquet files.

They are those of the data set wikimedia/wikipedia: the columns id, url, title and text. In a text a blank
line ends a paragraph, and a section begins with its heading on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from app.backends.corpus.formats import Entry, SourceDocument, source_files, web_address
from app.backends.fetch.sandbox import UnreadableSource
from app.text.clean import clean_line

COLUMNS = ["id", "url", "title", "text"]
ROWS_AT_ONCE = 256
MIN_SECTION_WORDS = 30
"""A shorter section is joined to the next one, because a passage of a few words ranks too high."""

_HEADING = re.compile(r"\S.{0,98}[^\s.!?:;,…\"”]|\S")
"""A line of at most 100 characters that does not end with the punctuation of a sentence."""


def parquet_articles(path: Path) -> Iterator[Entry]:
    """Yield the articles of all files. At most a batch of rows is held in memory."""
    bytes_before = 0
    for file, _ in source_files(path, "wikipedia"):
        size = file.stat().st_size
        yield from _articles(file, bytes_before, size)
        bytes_before += size


def _articles(file: Path, bytes_before: int, size: int) -> Iterator[Entry]:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as table:
            if missing := set(COLUMNS) - set(table.schema_arrow.names):
                raise UnreadableSource(f"has no column {min(missing)} in {file.name}")
            total = max(table.metadata.num_rows, 1)
            batches = table.iter_batches(ROWS_AT_ONCE, columns=COLUMNS)
            for row, article in enumerate(chain.from_iterable(each.to_pylist() for each in batches), 1):
                yield _entry(f"{file.name}, row {row}", bytes_before + size * row // total, article)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk; pyarrow's own have no number
            raise
        raise UnreadableSource(f"cannot be read as Parquet at {file.name} ({type(error).__name__})") from error


def _entry(where: str, read: int, article: dict[str, Any]) -> Entry:
    try:
        id, title, text = (str(article[name] or "") for name in ("id", "title", "text"))
        if not id:
            raise UnreadableSource("has no id")
        return Entry(where, read, SourceDocument(id, clean_line(title), sections(text), web_address(article["url"])))
    except UnreadableSource as error:
        return Entry(where, read, problem=str(error))


def sections(text: str) -> Iterator[str | None]:
    """Yield the paragraphs of an article, and None after a section of at least MIN_SECTION_WORDS words.

    A heading is put before its section's first paragraph. Headings at the end that have no text are left out.
    """
    heading, words = "", 0
    for at, block in enumerate(re.split(r"\n\s*\n", text.strip())):
        first, _, rest = block.strip().partition("\n")
        if at and _HEADING.fullmatch(first.strip()):  # block 0 is the lead, which has no heading
            if words >= MIN_SECTION_WORDS:
                yield None
                words = 0
            heading = f"{heading}: {first.strip()}" if heading else first.strip()
            block = rest
        if block.strip():
            yield f"{heading}: {block}" if heading else block
            heading, words = "", words + len(block.split())
