"""Build a corpus from a user's documents: read them, cut them into passages, and index those.

Passages are written in shards, so an interrupted build resumes after the last one. An existing corpus of the same name
is used until the new index is complete.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TextIO

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import Java
from app.backends.corpus.documents import Unreadable
from app.backends.corpus.formats import (
    Entry,
    SourceDocument,
    clean,
    entries,
    format_of,
    passages_of,
    source_files,
    total_bytes,
)
from app.backends.corpus.index import (
    BUILDING,
    BUILT_IN,
    MANIFEST,
    PROBLEMS,
    RESUME_FIX,
    BuildCheckpoint,
    BuildState,
    Manifest,
    PrintLine,
    install_index,
    manifest_for,
    passage_json,
    write_index,
    write_lines,
)
from app.backends.corpus.wikipedia import LIVE
from app.domain.errors import InvalidInput, ModelUnavailable

REPORT_INTERVAL_SECONDS = 2.0


class ProgressReporter:
    """Reports reading progress to `say` every two seconds; `total` is in bytes."""

    def __init__(self, total: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._say, self._clock = total, say, clock
        self._read_at_start: int | None = None
        self._started = self._reported = clock()

    def report(self, read: int, documents: int, passages: int) -> None:
        """Report the progress unless it was reported just now. `read` counts bytes from the source's start."""
        now = self._clock()
        if self._read_at_start is None:  # bytes before an interruption must not count as speed
            self._read_at_start, self._started = read, now
        if now - self._reported < REPORT_INTERVAL_SECONDS:
            return
        self._reported = now
        speed = (read - self._read_at_start) / max(now - self._started, 0.001)
        left = f", {format_duration((self._total - read) / speed)} left" if speed > 0 else ""
        share = f"{read / self._total:.0%}" if self._total else "100%"
        self._say(f"{share} read: {documents:,} documents, {passages:,} passages, {speed / 1e6:.1f} MB/s{left}")

    def report_indexed(self, done: int, total: int) -> None:
        """Report the number of indexed passages unless it was reported just now; always at the end."""
        now = self._clock()
        if done == total or now - self._reported >= REPORT_INTERVAL_SECONDS:
            self._reported = now
            self._say(f"indexed {done:,} of {total:,} passages")


def format_duration(seconds: float) -> str:
    """Format seconds as seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


PASSAGES_PER_SHARD = 20_000
"""Also roughly the maximum number of passages that a resumed build writes again."""
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

    def plan(self) -> dict:
        """Return the options and the state of the source, which must be unchanged to resume an interrupted build."""
        self.path.stat()  # raises OSError when there is no source
        state = hashlib.sha256()
        for file, name in source_files(self.path, self.format):
            about = file.stat()
            state.update(os.fsencode(f"{name}\0{about.st_size}\0{about.st_mtime_ns}\0"))
        return {**asdict(self), "path": str(self.path.resolve()), "source_state": state.hexdigest()}


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
    request: BuildRequest,
    folder: Path,
    java: Java,
    say: PrintLine,
    *,
    replaces: bool = False,
    anew: bool = False,
    per_shard: int = PASSAGES_PER_SHARD,
) -> tuple[Manifest, BuildState]:
    """Build the corpus in `folder`, or resume its build; return the manifest and the final state.

    `replaces`: an existing corpus may be replaced. `anew`: discard an unfinished build first. Raises InvalidInput for
    an invalid request or source and ModelUnavailable when Java is missing; the corpus in `folder` is then unchanged.
    ModelUnavailable is also raised when a file cannot be written; the same call then resumes.
    """
    checked_name(request.name)
    check_replaced(folder, replaces)
    request, plan = _resolve_request(request)
    jvm.choose_java(java.home)  # reading the source may take an hour
    try:
        with closing(BuildCheckpoint(folder / BUILDING)) as checkpoint:
            _resume(checkpoint, request, plan, anew, say)
            try:
                with _unreadable_is_invalid(request.path):
                    _write_passages(checkpoint, request, folder / BUILDING, say, per_shard)
            except InvalidInput:
                checkpoint.discard()
                raise
            manifest, state = _index(checkpoint, request, folder, java, say), checkpoint.state
            checkpoint.discard()
    except (OSError, sqlite3.OperationalError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ModelUnavailable(f"The build of {request.name} broke off ({why})", fix=RESUME_FIX) from error
    return manifest, state


def _resolve_request(request: BuildRequest) -> tuple[BuildRequest, dict]:
    """Return the request with its format detected, and its plan. Raises InvalidInput for an unreadable source."""
    try:
        with _unreadable_is_invalid(request.path):
            request = replace(request, format=format_of(request.path) if request.format == "auto" else request.format)
            return request, request.plan()
    except OSError as error:
        raise InvalidInput(f"{request.path} cannot be read ({error.strerror}).", "from") from error


@contextmanager
def _unreadable_is_invalid(path: Path) -> Iterator[None]:
    try:
        yield
    except Unreadable as error:
        raise InvalidInput(f"{path} {error}.", "from") from error


def _resume(checkpoint: BuildCheckpoint, request: BuildRequest, plan: dict, anew: bool, say: PrintLine) -> None:
    if checkpoint.plan is None or anew:
        checkpoint.begin(plan)
    elif checkpoint.plan != plan:
        raise InvalidInput(
            f"An unfinished build of {request.name} was begun with another source or other options; repeat that "
            "command to go on with it, or add --anew to give it up.",
            "name",
        )
    elif checkpoint.state.shards:
        say(f"going on after {checkpoint.state.documents:,} documents, {checkpoint.state.passages:,} passages")


def _write_passages(
    checkpoint: BuildCheckpoint, request: BuildRequest, scratch: Path, say: PrintLine, per_shard: int
) -> None:
    if not checkpoint.state.ended:
        progress = ProgressReporter(total_bytes(request.path, request.format), say)
        coming = entries(request.path, request.format, checkpoint.state.position, scratch)
        while not checkpoint.state.ended:
            with checkpoint.open_shard() as shard:
                state = _fill(shard, coming, checkpoint, request, say, progress, per_shard)
            checkpoint.commit_shard(state)
    if not checkpoint.state.passages:
        raise InvalidInput(f"{request.path} holds no passage; nothing was built.", "from")


def _fill(
    shard: TextIO,
    coming: Iterator[Entry],
    checkpoint: BuildCheckpoint,
    request: BuildRequest,
    say: PrintLine,
    progress: ProgressReporter,
    per_shard: int,
) -> BuildState:
    """Write whole documents until the shard has `per_shard` passages or the source ends; return the new state."""
    state, enough = checkpoint.state, checkpoint.state.passages + per_shard
    for entry in coming:
        problem = entry.problem or _record_id(checkpoint, entry)
        written = 0 if problem or not entry.document else _write(shard, entry.document)
        if not written:
            _report_problem(checkpoint, f"{entry.where} {problem or 'holds no text'}", request, state.problems, say)
        state = replace(
            state,
            position=entry.position,
            documents=state.documents + bool(written),
            passages=state.passages + written,
            problems=state.problems + (not written),
        )
        progress.report(entry.read, state.documents, state.passages)
        if state.passages >= enough:
            return state
    return replace(state, ended=True)


def _record_id(checkpoint: BuildCheckpoint, entry: Entry) -> str:
    """Record the id of the entry's document; return the problem if an earlier one has it, else ""."""
    before = checkpoint.record_id(entry.document.id, entry.where) if entry.document else None
    return f'has the id "{entry.document.id}" of {before}' if entry.document and before else ""


def _write(shard: TextIO, source: SourceDocument) -> int:
    """Write the document's passages, one per line; return their number."""
    number = 0
    for number, text in enumerate(passages_of(source.paragraphs), 1):
        shard.write(passage_json(f"{source.id}#{number}", source.title or source.id, text, source.url) + "\n")
    return number


def _report_problem(
    checkpoint: BuildCheckpoint, problem: str, request: BuildRequest, before: int, say: PrintLine
) -> None:
    line = clean(problem)
    if request.refuse:
        raise InvalidInput(f"{line}; nothing was built.", "from")
    checkpoint.add_problem(line)
    if before < MAX_REPORTED_PROBLEMS:
        say(f"left out: {line}")


def _index(checkpoint: BuildCheckpoint, request: BuildRequest, folder: Path, java: Java, say: PrintLine) -> Manifest:
    say("starting Java")
    lucene = jvm.start(java.home, java.memory)
    made = folder / BUILDING / "index"
    shutil.rmtree(made, ignore_errors=True)
    total = checkpoint.state.passages
    progress = ProgressReporter(0, say)  # no bytes are read here
    try:
        write_index(lucene, made, checkpoint.passage_lines(), lambda done: progress.report_indexed(done, total))
    except Exception as error:  # pyjnius wraps any Java exception, e.g. for a full disk
        log.exception("The index of %s could not be written", request.name)
        message = f"The index of {request.name} could not be written ({type(error).__name__})"
        raise ModelUnavailable(message, fix=RESUME_FIX) from error
    manifest = manifest_for(request.name, request.title, request.source, "built", total, made)
    write_lines(folder / PROBLEMS, checkpoint.problems())
    install_index(folder, made, manifest)
    return manifest
