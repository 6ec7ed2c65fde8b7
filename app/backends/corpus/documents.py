"""Read one file of a folder (plain text, Markdown, HTML, PDF or Word) as a title and paragraphs.

Plain text is read in pieces, so its size is not limited. Markdown and HTML are parsed whole and limited in size;
trafilatura gets HTML as a string and fetches nothing. PDF and Word are parsed in a separate process with limits on time
and memory (pdf.py, word.py).
"""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from app.backends.corpus import word
from app.backends.corpus.pdf import MEMORY_BYTES, TIMEOUT_SECONDS, read_pdf
from app.backends.fetch.html import HEADINGS, extract_text, fragment_of, paragraphs_of
from app.backends.fetch.pages import decode_declared
from app.backends.fetch.sandbox import UnreadableSource, run_sandboxed

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 8 * 1024 * 1024
"""Limit for Markdown and HTML files: trafilatura took 8 s of CPU for 4 MB of one page, and 89 s for 17 MB."""
CHUNK_CHARACTERS = 32 * 1024
"""Characters of plain text read at once; up to twice as many are held in memory."""

_WIKI_LINK = re.compile(r"!\[\[[^\[\]\n]*\]\]|\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
"""A link or an embedded file in the notes of Obsidian and the like."""
_FRONT_MATTER = re.compile(r"\A---\r?\n.*?\r?\n---\r?\n", re.DOTALL)


FileText = tuple[str, Iterable[str]]
"""The title of a file, "" if it has none, and its paragraphs."""


def file_text(path: Path, scratch: Path) -> FileText:
    """Return title and text of a file whose suffix is in SUFFIXES; `scratch` is a temporary folder.

    Raises UnreadableSource when it cannot be read or parsed. An empty text or Markdown file has no text and no error.
    """
    try:
        return SUFFIXES[path.suffix.lower()](path, scratch)
    except OSError as error:
        raise UnreadableSource(f"cannot be read ({error.strerror})") from error
    except (UnreadableSource, ImportError):
        raise
    except Exception as error:  # parsers raise many types, and one file must not end a build
        log.info("%s cannot be parsed", path, exc_info=True)
        raise UnreadableSource(f"cannot be parsed ({type(error).__name__})") from error


def _plain(path: Path, scratch: Path) -> FileText:
    _check_utf8(path)
    return "", _paragraphs(path)


def _check_utf8(path: Path) -> None:
    """Raise UnreadableSource with the number of the first line that is not UTF-8, if one is not."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    number = 1
    try:
        with path.open("rb") as file:
            while piece := file.readline(CHUNK_CHARACTERS):
                decoder.decode(piece)
                number += piece.endswith(b"\n")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise UnreadableSource(f"is not UTF-8 (line {number})") from None


def _paragraphs(path: Path) -> Iterator[str]:
    """Yield paragraphs, in pieces of less than 2 * CHUNK_CHARACTERS, cut between words where there is a space."""
    held = ""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        while piece := file.readline(CHUNK_CHARACTERS):
            held += piece
            if piece.isspace() or len(held) >= CHUNK_CHARACTERS:
                rest = "" if piece.endswith("\n") else held.rpartition(" ")[2]
                rest = rest if len(rest) < len(held) else ""
                yield held.removesuffix(rest)
                held = rest
    yield held


def _markdown(path: Path, scratch: Path) -> FileText:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin

    _check_utf8(path)
    text = _FRONT_MATTER.sub("", _whole(path).decode("utf-8-sig"))
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(footnote_plugin)
    tree = fragment_of(parser.render(_WIKI_LINK.sub(r"\1", text)))
    for code in tree.iter("pre"):
        code.clear(keep_tail=True)
    heading = next((each for each in tree.iter(*HEADINGS) if each.text_content().strip()), None)
    title = "" if heading is None else " ".join(heading.text_content().split())
    if heading is not None:
        heading.clear(keep_tail=True)
    return title, list(paragraphs_of(tree))


def _html(path: Path, scratch: Path) -> FileText:
    if (text := decode_declared(_whole(path))) is None:
        raise UnreadableSource("is not in UTF-8, nor in an encoding that it declares")
    found = extract_text(text, "")
    if not found.text:
        raise UnreadableSource("holds no text besides menus and other parts of the page's frame")
    return found.title, found.text.splitlines()


def _whole(path: Path) -> bytes:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise UnreadableSource(f"is larger than {MAX_FILE_BYTES // 1024**2} MB")
    return path.read_bytes()


def _pdf(path: Path, scratch: Path) -> FileText:
    title = read_pdf(path, text := scratch / "pdf.txt")
    return title, _paragraphs(text)


_WORD_PROBLEMS = {
    1: "is no Word document (.docx) that can be read",
    word.EMPTY: "holds no text",
    word.TOO_LARGE: "is larger, unpacked, than is allowed for a document",
}


def _word(path: Path, scratch: Path) -> FileText:
    files = str(path.absolute()), str(text := scratch / "word.txt")
    run_sandboxed(word.__file__, *files, seconds=TIMEOUT_SECONDS, memory=MEMORY_BYTES, problems=_WORD_PROBLEMS)
    return "", _paragraphs(text)


SUFFIXES: dict[str, Callable[[Path, Path], FileText]] = {
    **dict.fromkeys((".txt", ".text"), _plain),
    **dict.fromkeys((".md", ".markdown"), _markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
    ".pdf": _pdf,
    ".docx": _word,
}
"""The reader for each file suffix; files with other suffixes are ignored."""
