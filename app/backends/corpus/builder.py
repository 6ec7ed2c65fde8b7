"""Build a corpus from a user's documents: read them, cut them into passages, and index those.

An existing corpus of the same name is used until the new index is complete.
"""

from __future__ import annotations

import logging
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import Java
from app.backends.corpus.formats import Entry, entries, format_of, passages_of, total_bytes
from app.backends.corpus.index import (
    BUILDING,
    BUILT_IN,
    MANIFEST,
    PROBLEMS,
    RETRY_FIX,
    Manifest,
    PrintLine,
    install_index,
    manifest_for,
    passage_json,
    write_index,
)
from app.backends.corpus.wikipedia import LIVE
from app.backends.fetch.sandbox import UnreadableSource
from app.domain.errors import HopcheckError, InvalidInput, ModelUnavailable
from app.text.clean import clean_line

REPORT_INTERVAL_SECONDS = 2.0


class ProgressReporter:
    """Reports reading progress to `say` every two seconds; `total` is in bytes."""

    def __init__(self, total: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._say, self._clock = total, say, clock
        self._started = self._reported = clock()

    def report(self, read: int, documents: int, passages: int) -> None:
        """Report the progress unless it was reported just now. `read` counts bytes from the source's start."""
        now = self._clock()
        if now - self._reported < REPORT_INTERVAL_SECONDS:
            return
        self._reported = now
        speed = read / max(now - self._started, 0.001)
        left = f", {format_duration((self._total - read) / speed)} left" if speed > 0 else ""
        share = f"{read / self._total:.0%}" if self._total else "100%"
        self._say(f"{share} read: {documents:,} documents, {passages:,} passages, {speed / 1e6:.1f} MB/s{left}")


def format_duration(seconds: float) -> str:
    """Format seconds as seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


MAX_REPORTED_PROBLEMS = 20
"""Problems reported during the build; problems.txt lists all of them."""
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}[a-z0-9]|[a-z0-9]")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """The source, name and options of a corpus build."""

    name: str
    path: Path
    format: str = "auto"
    title: str = ""
    source: str = ""
    """The text's origin and licence."""
    refuse: bool = False
    """Stop at the first broken entry instead of skipping and reporting broken entries."""


@dataclass(slots=True)
class BuildCounts:
    """What a build has read up to now."""

    documents: int = 0
    passages: int = 0
    problems: int = 0


def checked_name(name: str) -> str:
    """Return the name if it is a valid folder name and not built in. Raises InvalidInput otherwise."""
    if not NAME.fullmatch(name) or ".." in name:
        raise InvalidInput(
            "A corpus's name has at most 64 small letters, digits, dots, hyphens and underscores, begins and ends with "
            "a letter or a digit, and has no two dots in a row.",
            "name",
        )
    if name in (*BUILT_IN, LIVE):
        raise InvalidInput(f"{name} is built in and cannot be replaced; choose another name.", "name")
    return name


def check_replaced(folder: Path, replaces: bool) -> None:
    """Raise InvalidInput when there is a corpus in `folder` already, unless it may be replaced."""
    if (folder / MANIFEST).exists() and not replaces:
        raise InvalidInput(f"There is a corpus {folder.name} already; add --replace to replace it.", "name")


def build_corpus(
    request: BuildRequest, folder: Path, java: Java, say: PrintLine, *, replaces: bool = False
) -> tuple[Manifest, BuildCounts]:
    """Build the corpus in `folder`; return its manifest and what was read.

    `replaces`: an existing corpus may be replaced. Raises InvalidInput for an invalid request or source, and
    ModelUnavailable when Java is missing or a file cannot be written; the corpus in `folder` is then unchanged.
    """
    from filelock import FileLock, Timeout

    checked_name(request.name)
    check_replaced(folder, replaces)
    request = _with_format(request)
    jvm.choose_java(java.home)  # before anything is written
    making = folder / BUILDING
    try:
        making.mkdir(parents=True, exist_ok=True)
        with FileLock(making / "lock", blocking=False), _removed_at_the_end(making):
            say("starting Java")
            lucene = jvm.start(java.home, java.memory)
            counts = _index(lucene, request, making, say)
            manifest = manifest_for(
                request.name, request.title, request.source, "built", counts.passages, making / "index"
            )
            if counts.problems:
                (making / PROBLEMS).replace(folder / PROBLEMS)
            else:
                (folder / PROBLEMS).unlink(missing_ok=True)
            install_index(folder, making / "index", manifest)
    except Timeout:
        raise InvalidInput(f"Another build of the corpus {request.name} is running.", "name") from None
    except (OSError, sqlite3.OperationalError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ModelUnavailable(f"The build of {request.name} broke off ({why})", fix=RETRY_FIX) from error
    return manifest, counts


@contextmanager
def _removed_at_the_end(making: Path) -> Iterator[None]:
    """Empty the folder of unfinished builds first, and remove it at the end, with an empty folder around it."""
    for path in (making / "index", making / "ids.sqlite3"):  # of a build that was killed
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    try:
        yield
    finally:
        shutil.rmtree(making, ignore_errors=True)
        with suppress(OSError):
            making.parent.rmdir()  # fails if the folder holds a corpus


def _with_format(request: BuildRequest) -> BuildRequest:
    try:
        format = format_of(request.path) if request.format == "auto" else request.format
        request.path.stat()
        return replace(request, format=format)
    except UnreadableSource as error:
        raise InvalidInput(f"{request.path} {error}.", "from") from error
    except OSError as error:
        raise InvalidInput(f"{request.path} cannot be read ({error.strerror}).", "from") from error


def _index(lucene: jvm.Pyserini, request: BuildRequest, making: Path, say: PrintLine) -> BuildCounts:
    counts = BuildCounts()
    try:
        write_index(lucene, making / "index", _passages(request, making, counts, say), lambda done: None)
    except UnreadableSource as error:
        raise InvalidInput(f"{request.path} {error}.", "from") from error
    except (HopcheckError, OSError, sqlite3.OperationalError):
        raise
    except Exception as error:  # pyjnius wraps any Java exception, e.g. for a full disk
        log.exception("The index of %s could not be written", request.name)
        message = f"The index of {request.name} could not be written ({type(error).__name__})"
        raise ModelUnavailable(message, fix=RETRY_FIX) from error
    if not counts.passages:
        raise InvalidInput(f"{request.path} holds no passage; nothing was built.", "from")
    return counts


def _passages(request: BuildRequest, making: Path, counts: BuildCounts, say: PrintLine) -> Iterator[str]:
    """Yield the passages of the source's documents as JSON, and count them; report and list what is left out."""
    progress = ProgressReporter(total_bytes(request.path, request.format), say)
    problems = (making / PROBLEMS).open("w", encoding="utf-8", errors="replace")
    with closing(sqlite3.connect(making / "ids.sqlite3")) as ids, problems:
        ids.execute("PRAGMA journal_mode = OFF")
        ids.execute("CREATE TABLE seen (id BLOB PRIMARY KEY, place TEXT) WITHOUT ROWID")
        for entry in entries(request.path, request.format, making):
            before, problem = counts.passages, entry.problem or _repeated_id(ids, entry)
            if (source := entry.document) and not problem:
                for number, text in enumerate(passages_of(source.paragraphs), 1):
                    counts.passages += 1
                    yield passage_json(f"{source.id}#{number}", source.title or source.id, text, source.url)
            if counts.passages > before:
                counts.documents += 1
            else:
                line = clean_line(f"{entry.where} {problem or 'holds no text'}")
                if request.refuse:
                    raise InvalidInput(f"{line}; nothing was built.", "from")
                problems.write(line + "\n")
                counts.problems += 1
                if counts.problems <= MAX_REPORTED_PROBLEMS:
                    say(f"left out: {line}")
            progress.report(entry.read, counts.documents, counts.passages)


def _repeated_id(ids: sqlite3.Connection, entry: Entry) -> str:
    """Record the id of the entry's document; return the problem if an earlier one has it, else ""."""
    if entry.document is None:
        return ""
    key = blake2b(entry.document.id.encode("utf-8", "replace"), digest_size=16).digest()
    if ids.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (key, entry.where)).rowcount:
        return ""
    (before,) = ids.execute("SELECT place FROM seen WHERE id = ?", (key,)).fetchone()
    return f'has the id "{entry.document.id}" of {before}'
