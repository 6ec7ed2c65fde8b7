"""A corpus built from people's own documents: read, cut into passages, indexed, and put in place whole.

Reading and cutting go shard by shard and are taken up again where they were killed; the index is made of the finished
shards in one go. The corpus of that name that was there serves until the new one is whole.
"""

from __future__ import annotations

import logging
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TextIO

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import Java
from app.backends.corpus.checkpoint import Notebook, State, write_lines
from app.backends.corpus.documents import Unreadable
from app.backends.corpus.formats import Entry, SourceDocument, entries, format_of, total_bytes
from app.backends.corpus.index import (
    BUILDING,
    BUILT_IN,
    GO_ON,
    MANIFEST,
    PROBLEMS,
    Manifest,
    Progress,
    document,
    made_of,
    put_in_place,
    write_index,
)
from app.backends.corpus.passages import clean, passages_of
from app.domain.errors import InvalidInput, ModelUnavailable

# How far a build is, said every other second: documents, passages, speed, and the time that is left.

EVERY = 2.0


class Pace:
    """Tells `say` how reading goes on; `total` is in bytes."""

    def __init__(self, total: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._say, self._clock = total, say, clock
        self._already: int | None = None
        self._started = self._told = clock()

    def tell(self, read: int, documents: int, passages: int) -> None:
        """Say where the build stands, unless it was said just now. `read` counts all bytes from the source's start."""
        now = self._clock()
        if self._already is None:  # what a build that was killed had read was not read now
            self._already, self._started = read, now
        if now - self._told < EVERY:
            return
        self._told = now
        speed = (read - self._already) / max(now - self._started, 0.001)
        left = f", {duration((self._total - read) / speed)} left" if speed > 0 else ""
        share = f"{read / self._total:.0%}" if self._total else "100%"
        self._say(f"{share} read: {documents:,} documents, {passages:,} passages, {speed / 1e6:.1f} MB/s{left}")

    def tell_indexed(self, done: int, total: int) -> None:
        """Say how many passages are indexed, unless it was said just now; the last one is always said."""
        now = self._clock()
        if done == total or now - self._told >= EVERY:
            self._told = now
            self._say(f"indexed {done:,} of {total:,} passages")


def duration(seconds: float) -> str:
    """Seconds in words, to the nearest fitting unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


SHARD = 20_000
"""Passages of a shard, and so about the most that a killed build does again."""
SHOWN = 20
"""Problems that are told on the way; all of them are in problems.txt."""
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}[a-z0-9]|[a-z0-9]")

log = logging.getLogger(__name__)


class Refused(Exception):
    """The source has an entry that is broken, and broken entries are refused."""


class Empty(Exception):
    """The source has nothing to build a corpus of."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to build: the corpus's name, where its documents are, and how people will see it.

    `source` names where the text is from, with its licence. `refuse`: the first broken entry ends the build; otherwise
    broken entries are left out and named.
    """

    name: str
    path: Path
    format: str = "auto"
    title: str = ""
    source: str = ""
    refuse: bool = False

    def plan(self) -> dict:
        """What must be the same for a killed build to go on: all of it, and the source as it is now."""
        about = self.path.stat()
        source = "" if self.path.is_dir() else f"{about.st_size} bytes of {about.st_mtime_ns}"
        return {**asdict(self), "path": str(self.path.resolve()), "source_state": source}


def checked_name(name: str) -> str:
    """A name that is safe as a folder's and no built-in's. Raises InvalidInput for any other."""
    if not NAME.fullmatch(name) or ".." in name:
        raise InvalidInput(
            "A corpus's name has at most 64 small letters, digits, dots, hyphens and underscores, and begins and ends "
            "with a letter or a digit.",
            "name",
        )
    if name in BUILT_IN:
        raise InvalidInput(f"{name} is built in and cannot be replaced; choose another name.", "name")
    return name


def build_corpus(
    order: Order,
    folder: Path,
    java: Java,
    say: Progress,
    *,
    replaces: bool = False,
    anew: bool = False,
    shard: int = SHARD,
) -> tuple[Manifest, State]:
    """Build the corpus and put it in `folder`, or go on with building it; its manifest, and what came of the source.

    `replaces`: a corpus that is there may be replaced. `anew`: an unfinished build is given up first. Raises
    InvalidInput when the order or its source is at fault and ModelUnavailable when Java is missing; what was in
    `folder` is then as it was.
    """
    checked_name(order.name)
    if (folder / MANIFEST).exists() and not replaces:
        raise InvalidInput(f"There is a corpus {order.name} already; add --replace to build it again.", "name")
    order, plan = _planned(order)
    with closing(Notebook(folder / BUILDING)) as notebook:
        try:
            _take_up(notebook, order, plan, anew, say)
            _write_passages(notebook, order, folder / BUILDING, say, shard)
            manifest = _index(notebook, order, folder, java, say)
        except (Refused, Empty) as error:
            notebook.discard()
            raise InvalidInput(str(error), "from") from error
        except Unreadable as error:
            notebook.discard()
            raise InvalidInput(f"{order.path} {error}.", "from") from error
        except (OSError, sqlite3.OperationalError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise ModelUnavailable(f"The build of {order.name} broke off ({why})", fix=GO_ON) from error
        state = notebook.state
        notebook.discard()
    return manifest, state


def _planned(order: Order) -> tuple[Order, dict]:
    """The order with its format found out, and its plan. Raises InvalidInput for a source that cannot be read."""
    try:
        order = replace(order, format=format_of(order.path) if order.format == "auto" else order.format)
        return order, order.plan()
    except Unreadable as error:
        raise InvalidInput(f"{order.path} {error}.", "from") from error
    except OSError as error:
        raise InvalidInput(f"{order.path} cannot be read ({error.strerror}).", "from") from error


def _take_up(notebook: Notebook, order: Order, plan: dict, anew: bool, say: Progress) -> None:
    if notebook.plan is None or anew:
        notebook.begin(plan)
    elif notebook.plan != plan:
        raise InvalidInput(
            f"An unfinished build of {order.name} was begun with another source or other options; repeat that command "
            "to go on with it, or add --anew to give it up.",
            "name",
        )
    elif notebook.state.shards:
        say(f"going on after {notebook.state.documents:,} documents, {notebook.state.passages:,} passages")


def _write_passages(notebook: Notebook, order: Order, scratch: Path, say: Progress, most: int) -> None:
    """Fill shards with the passages of the source's documents until all of it is read."""
    if not notebook.state.ended:
        pace = Pace(total_bytes(order.path, order.format), say)
        coming = entries(order.path, order.format, notebook.state.position, scratch)
        while not notebook.state.ended:
            with notebook.shard() as shard:
                state = _fill(shard, coming, notebook, order, say, pace, most)
            notebook.close_shard(state)
    if not notebook.state.passages:
        raise Empty(f"{order.path} holds no passage; nothing was built.")


def _fill(
    shard: TextIO, coming: Iterator[Entry], notebook: Notebook, order: Order, say: Progress, pace: Pace, most: int
) -> State:
    """Write whole documents until the shard has `most` passages or the source ends; how the build then stands."""
    state, enough = notebook.state, notebook.state.passages + most
    for entry in coming:
        problem = entry.problem or _seen_before(notebook, entry)
        written = 0 if problem or not entry.document else _write(shard, entry.document)
        if not written:
            _tell(notebook, f"{entry.where} {problem or 'holds no text'}", order, state.problems, say)
        state = replace(
            state,
            position=entry.position,
            documents=state.documents + bool(written),
            passages=state.passages + written,
            problems=state.problems + (not written),
        )
        pace.tell(entry.read, state.documents, state.passages)
        if state.passages >= enough:
            return state
    return replace(state, ended=True)


def _seen_before(notebook: Notebook, entry: Entry) -> str:
    before = notebook.note(entry.document.id, entry.where) if entry.document else None
    return f'has the id "{entry.document.id}" of {before}' if entry.document and before else ""


def _write(shard: TextIO, source: SourceDocument) -> int:
    """The document's passages, a row each; how many."""
    number = 0
    for number, text in enumerate(passages_of(source.paragraphs), 1):
        shard.write(document(f"{source.id}#{number}", source.title or source.id, text, source.url) + "\n")
    return number


def _tell(notebook: Notebook, problem: str, order: Order, before: int, say: Progress) -> None:
    line = clean(problem)
    if order.refuse:
        raise Refused(f"{line}; nothing was built.")
    notebook.problem(line)
    if before < SHOWN:
        say(f"left out: {line}")


def _index(notebook: Notebook, order: Order, folder: Path, java: Java, say: Progress) -> Manifest:
    """The index of the finished shards, put in place."""
    say("starting Java")
    lucene = jvm.start(java.home, java.memory)
    made = folder / BUILDING / "index"
    shutil.rmtree(made, ignore_errors=True)
    total = notebook.state.passages
    pace = Pace(0, say)
    try:
        write_index(lucene, made, notebook.documents(), lambda done: pace.tell_indexed(done, total))
    except Exception as error:  # pyjnius wraps any Java exception, a full disk among them, in its own
        log.exception("The index of %s could not be written", order.name)
        message = f"The index of {order.name} could not be written ({type(error).__name__})"
        raise ModelUnavailable(message, fix=GO_ON) from error
    manifest = made_of(order.name, order.title, order.source, "built", total, made)
    write_lines(folder / PROBLEMS, notebook.problems())
    put_in_place(folder, made, manifest)
    return manifest
