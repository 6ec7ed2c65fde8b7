"""Read the source of a corpus as a stream of documents: JSON lines, KILT's knowledge source, a folder, or Wikipedia.

Every reader reports problems by their place in the source, and holds at most one line, one
batch of rows or one file in memory. KILT: Petroni et al., 2021, "KILT: a Benchmark for Knowledge Intensive Language
Tasks".

Documents are cut into passages of about a hundred words, at sentence boundaries, never across two documents. Passages
are retrieved, shown and read; the local model was trained on texts of this length.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from app.backends.corpus.documents import SUFFIXES, file_text
from app.backends.fetch.sandbox import UnreadableSource
from app.text.clean import clean_line
from app.text.sentences import sentence_spans

PASSAGE_WORDS = 100
MAX_WORD_CHARACTERS = 200
"""Maximum characters of a word: longer text without spaces (a script without them, or binary data) is cut."""

MAX_TITLE_CHARACTERS = 300

_LONG_RUN = re.compile(rf"(\S{{{MAX_WORD_CHARACTERS}}})(?=\S)")


def title_and_text(title: str, contents: str) -> tuple[str, str]:
    """Return a document's title and text.

    Without a `title`, a short first line followed by text becomes the title and is removed from the text. So is a
    first line that repeats the title.
    """
    first, _, rest = contents.partition("\n")
    if rest.strip() and len(first) <= MAX_TITLE_CHARACTERS and (not title or first.strip() == title):
        return clean_line(first).strip('"'), rest
    return clean_line(title)[:MAX_TITLE_CHARACTERS], contents


def passages_of(paragraphs: Iterable[str | None], words: int = PASSAGE_WORDS) -> Iterator[str]:
    """Yield the passages of one document in order, holding one of its paragraphs at a time.

    A passage ends with the sentence or the paragraph whose end is nearest to `words`, or after `words` if none ends
    near it. The last passage of a document may be short, and so may the last one before None, which ends a section.
    """
    pending: list[str] = []  # words that are not yet in a passage
    ends: list[int] = []  # the number of pending words up to the end of each paragraph
    for paragraph in paragraphs:
        if paragraph is None:
            yield from [" ".join(pending)] if pending else []
            pending, ends = [], []
            continue
        pending += _LONG_RUN.sub(r"\1 ", clean_line(paragraph)).split()
        ends.append(len(pending))
        start = 0
        while len(pending) - start > words * 5 // 4:
            cut = start + _passage_length(pending[start : start + 2 * words], [end - start for end in ends], words)
            yield " ".join(pending[start:cut])
            start = cut
        pending, ends = pending[start:], [end - start for end in ends if end > start]
    if pending:
        yield " ".join(pending)


def _passage_length(text: list[str], paragraph_ends: list[int], words: int) -> int:
    """Return the best number of words for a passage. Searches near `words` first, as splitting sentences is slow."""
    for reach in (words * 3 // 10, words // 2):
        low, high = words - reach, min(words + reach, len(text))
        joined = " ".join(text[low:high])
        # Not at the end of the last sentence, which may be incomplete.
        near = [low + joined.count(" ", 0, end) + 1 for _, end in sentence_spans(joined)[:-1]]
        near += [end for end in paragraph_ends if low <= end <= high]
        if near:
            return min(near, key=lambda end: abs(end - words))
    return words


# The readable files of a folder, always in the same order.


def files_in(top: Path, suffixes: Container[str] = SUFFIXES) -> Iterator[tuple[Path, str]]:
    """Yield each file with one of the suffixes in and under `top`, or `top` itself, with its name relative to `top`.

    Hidden files and folders are skipped, as is anything but a regular file. Links are followed, but no folder is
    entered twice.
    """
    if top.is_file():
        yield top, top.name
    entered: set[tuple[int, int]] = set()
    for folder, folders, names in os.walk(top, followlinks=True):
        about = Path(folder).stat()
        if (about.st_dev, about.st_ino) in entered:
            folders.clear()
            continue
        entered.add((about.st_dev, about.st_ino))
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for path in (Path(folder, each) for each in sorted(names) if not each.startswith(".")):
            if path.suffix.lower() in suffixes and path.is_file():
                yield path, path.relative_to(top).as_posix()


MAX_LINE_BYTES = 32 * 1024 * 1024
MAX_ID_CHARACTERS = 500
PARQUET = (".parquet",)
FORMATS = ("auto", "jsonl", "kilt", "folder", "wikipedia")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One document before it is cut into passages."""

    id: str
    title: str
    paragraphs: Iterable[str | None]
    """None ends a section, which no passage crosses."""
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One line or file of a source: a document, or its problem ("" for none).

    `where` names it in messages, `read` is the number of bytes read up to there.
    """

    where: str
    read: int
    document: SourceDocument | None = None
    problem: str = ""


def format_of(path: Path) -> str:
    """Return the source's format, one of FORMATS but auto. Raises UnreadableSource for an unknown one."""
    if path.is_dir():
        is_dump = any(files_in(path, PARQUET)) and not any(files_in(path))
        return "wikipedia" if is_dump else "folder"
    if path.suffix.lower() in SUFFIXES:
        return "folder"
    if not path.is_file():
        raise UnreadableSource("is neither a file nor a folder")
    if path.suffix.lower() in PARQUET:
        return "wikipedia"
    with path.open("rb") as file:
        first = next((line for line in _lines(file) if line is None or line.strip()), b"")
    try:
        return "kilt" if "wikipedia_id" in _object(first) else "jsonl"
    except UnreadableSource as error:
        raise UnreadableSource(f"is of no format that is known: its first line {error}") from None


def entries(path: Path, format: str, scratch: Path) -> Iterator[Entry]:
    """Yield the entries of the source, always in the same order. `scratch` is a folder for temporary files."""
    if path.is_dir() and format not in ("folder", "wikipedia"):
        raise UnreadableSource(f"is a folder, and the format {format} is one file")
    if format == "folder":
        if path.is_file() and path.suffix.lower() not in SUFFIXES:
            raise UnreadableSource("is no text, Markdown, HTML, PDF or Word file")
        return _files(path, scratch)
    if format == "wikipedia":
        return parquet_articles(path)
    return _json_lines(path, {"jsonl": _plain_document, "kilt": _kilt_document}[format])


def total_bytes(path: Path, format: str) -> int:
    """Return the number of bytes to read, for estimating the remaining time."""
    return sum(_size(each) for each, _ in files_in(path, PARQUET if format == "wikipedia" else SUFFIXES))


def _json_lines(path: Path, parse: Callable[[dict], SourceDocument]) -> Iterator[Entry]:
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            if line is None or line.strip():
                yield _entry(f"{path.name}, line {number}", file.tell(), lambda line: parse(_object(line)), line)


def _entry(where: str, read: int, parse: Callable[[Any], SourceDocument], raw: Any) -> Entry:
    try:
        return Entry(where, read, parse(raw))
    except UnreadableSource as error:
        return Entry(where, read, problem=str(error))


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Yield the remaining lines; None for a line over MAX_LINE_BYTES, which is skipped in pieces."""
    while line := file.readline(MAX_LINE_BYTES):
        if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
            yield line
        else:
            while line and not line.endswith(b"\n"):
                line = file.readline(1 << 20)
            yield None


def _object(line: bytes | None) -> dict:
    if line is None:
        raise UnreadableSource(f"is longer than {MAX_LINE_BYTES // 1024**2} MB")
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UnreadableSource("is not UTF-8") from None
    except (ValueError, RecursionError):
        raise UnreadableSource("is no JSON") from None
    if not isinstance(row, dict):
        raise UnreadableSource("is no JSON object")
    return row


def _plain_document(row: dict) -> SourceDocument:
    contents = _text(row, "contents" if "contents" in row else "text")
    title, text = title_and_text(_text(row, "title", missing=""), contents)
    return SourceDocument(_id(row, "id"), title, re.split(r"\n\s*\n", text), web_address(row.get("url")))


def _kilt_document(row: dict) -> SourceDocument:
    lines = row.get("text")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise UnreadableSource('has no list of paragraphs as its "text"')
    title = _text(row, "wikipedia_title")
    history = row.get("history")
    url = history.get("url") if isinstance(history, dict) else None
    url = url or f"https://en.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}"
    body = lines[1:] if lines and lines[0].strip() == title else lines
    # As plain text, without section headings and bullet marks.
    paragraphs = [line.removeprefix("BULLET::::").lstrip("- ") for line in body if not line.startswith("Section::::")]
    return SourceDocument(_id(row, "wikipedia_id"), title, paragraphs, web_address(url))


def _id(row: dict, key: str) -> str:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int) or not (text := clean_line(str(value))):
        raise UnreadableSource(f'has no "{key}"')
    if len(text) > MAX_ID_CHARACTERS:
        raise UnreadableSource(f'has an "{key}" of more than {MAX_ID_CHARACTERS} characters')
    return text


def _text(row: dict, key: str, missing: str | None = None) -> str:
    value = row.get(key, missing)
    if value is None and missing is not None:
        return missing
    if not isinstance(value, str):
        raise UnreadableSource(f'has no text as its "{key}"')
    if _LONE_SURROGATE.search(value):
        raise UnreadableSource(f'has half a character in its "{key}"')
    return value


def web_address(url: Any) -> str | None:
    """Return a web address, which the page shows as a link. Raises UnreadableSource for anything else."""
    if url in (None, ""):
        return None
    if not isinstance(url, str) or not re.fullmatch(r"https?://[^\s\"<>]{1,2000}", url):
        raise UnreadableSource('has a "url" that is no web address')
    return url


def _files(path: Path, scratch: Path) -> Iterator[Entry]:
    def document(file: Path) -> SourceDocument:
        title, paragraphs = file_text(file, scratch)
        stem = file.stem.encode("utf-8", "replace").decode()
        return SourceDocument(shown, clean_line(title) or re.sub(r"[-_]+", " ", stem).strip(), paragraphs)

    read = 0
    for file, name in files_in(path):
        read += _size(file)
        shown = name.encode("utf-8", "replace").decode()
        yield _entry(shown, read, document, file)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # removed since it was listed; reading it reports that
        return 0


# Wikipedia's articles in Parquet files, those of the data set wikimedia/wikipedia. In a text a blank line ends a
# paragraph, and a section begins with its heading on a line of its own.

COLUMNS = ["id", "url", "title", "text"]
ROWS_AT_ONCE = 256
MIN_SECTION_WORDS = 30
"""A shorter section is joined to the next one, because a passage of a few words ranks too high."""

_HEADING = re.compile(r"\S.{0,98}[^\s.!?:;,…\"”]|\S")
"""A line of at most 100 characters that does not end with the punctuation of a sentence."""


def parquet_articles(path: Path) -> Iterator[Entry]:
    """Yield the articles of all files. At most a batch of rows is held in memory."""
    import pyarrow
    from pyarrow import parquet

    bytes_before = 0
    for file, _ in files_in(path, PARQUET):
        size = file.stat().st_size
        try:
            with parquet.ParquetFile(file) as table:
                if missing := set(COLUMNS) - set(table.schema_arrow.names):
                    raise UnreadableSource(f"has no column {min(missing)} in {file.name}")
                total = max(table.metadata.num_rows, 1)
                batches = table.iter_batches(ROWS_AT_ONCE, columns=COLUMNS)
                for row, article in enumerate(chain.from_iterable(each.to_pylist() for each in batches), 1):
                    yield _entry(f"{file.name}, row {row}", bytes_before + size * row // total, _article, article)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # of the disk; pyarrow's own have no number
                raise
            raise UnreadableSource(f"cannot be read as Parquet at {file.name} ({type(error).__name__})") from error
        bytes_before += size


def _article(row: dict[str, Any]) -> SourceDocument:
    id, title, text = (str(row[name] or "") for name in ("id", "title", "text"))
    if not id:
        raise UnreadableSource("has no id")
    return SourceDocument(id, clean_line(title), sections(text), web_address(row["url"]))


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
