"""Checkpoints of an unfinished corpus build, so that the same command resumes it.

    building/notebook.sqlite3   the plan, the position in the source, the ids seen, the problems
    building/00000.jsonl ...    the passages, as they will be indexed; a shard ends where a document ends

A shard is committed in one transaction with the position in the source; anything written after it is written again. A
running build holds an exclusive lock on the database.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from app.domain.errors import InvalidInput

_TABLES = """
CREATE TABLE IF NOT EXISTS about (plan TEXT, state TEXT);
CREATE TABLE IF NOT EXISTS seen (id BLOB PRIMARY KEY, place TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS problems (line TEXT);
"""


@dataclass(frozen=True, slots=True)
class BuildState:
    """Progress of a build; `ended` when the source was read completely."""

    position: Any = None
    shards: int = 0
    documents: int = 0
    passages: int = 0
    problems: int = 0
    ended: bool = False


class BuildCheckpoint:
    """The folder of an unfinished build, opened exclusively."""

    def __init__(self, folder: Path) -> None:
        """Open or create it. Raises InvalidInput when another build has it open."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._rows = sqlite3.connect(folder / "notebook.sqlite3", timeout=0, isolation_level=None)
        try:
            self._rows.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._rows.execute("PRAGMA cache_size = -32000")
            self._rows.executescript(_TABLES)
            self._rows.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            self._rows.close()
            raise InvalidInput(f"Another build of the corpus {folder.parent.name} is running.", "name") from error
        self.plan, self.state = self._read()

    def _read(self) -> tuple[dict | None, BuildState]:
        row = self._rows.execute("SELECT plan, state FROM about").fetchone()
        if not row:
            return None, BuildState()
        state = BuildState(**json.loads(row[1]))
        if isinstance(state.position, list):  # JSON has no tuples
            state = replace(state, position=tuple(state.position))
        return json.loads(row[0]), state

    def begin(self, plan: dict) -> None:
        """Clear everything and store the plan."""
        for table in ("about", "seen", "problems"):
            self._rows.execute(f"DELETE FROM {table}")
        self.plan, self.state = plan, BuildState()
        self._rows.execute("INSERT INTO about VALUES (?, ?)", (json.dumps(plan), json.dumps(asdict(self.state))))
        self._commit()

    def record_id(self, id: str, place: str) -> str | None:
        """Store that a document with this id is at `place`; return the place of an earlier one, if any."""
        key = blake2b(id.encode("utf-8", "replace"), digest_size=16).digest()
        if self._rows.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (key, place)).rowcount:
            return None
        return self._rows.execute("SELECT place FROM seen WHERE id = ?", (key,)).fetchone()[0]

    def add_problem(self, line: str) -> None:
        """Store the problem of an entry."""
        self._rows.execute("INSERT INTO problems VALUES (?)", (line,))

    def problems(self) -> Iterator[str]:
        """Yield the stored problems in order."""
        yield from (line for (line,) in self._rows.execute("SELECT line FROM problems ORDER BY rowid"))

    def open_shard(self) -> TextIO:
        """Open the next shard for writing."""
        return self._path(self.state.shards).open("w", encoding="ascii")

    def commit_shard(self, state: BuildState) -> None:
        """Commit the shard with the new state and all ids and problems stored since the last one."""
        self.state = replace(state, shards=self.state.shards + 1)
        self._rows.execute("UPDATE about SET state = ?", (json.dumps(asdict(self.state)),))
        self._commit()

    def documents(self) -> Iterator[str]:
        """Yield the lines of all committed shards."""
        for number in range(self.state.shards):
            with self._path(number).open(encoding="ascii") as file:
                yield from file

    def close(self) -> None:
        """Close the database; the state after the last committed shard remains."""
        self._rows.close()

    def discard(self) -> None:
        """Close and remove the folder, after the build has finished or was abandoned."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):
            self._folder.parent.rmdir()  # fails if the folder holds a corpus

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:05}.jsonl"

    def _commit(self) -> None:
        self._rows.execute("COMMIT")
        self._rows.execute("BEGIN EXCLUSIVE")


def write_lines(path: Path, lines: Iterator[str]) -> None:
    """Replace the file by one with these lines; without lines, only remove it."""
    path.unlink(missing_ok=True)
    if (first := next(lines, None)) is not None:
        with path.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{line}\n" for line in chain((first,), lines))
