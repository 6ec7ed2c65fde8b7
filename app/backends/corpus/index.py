"""Lucene indexes on disk: layout, manifest, atomic replacement, and checkpoints of an unfinished build.

    INSTANCE/corpora/NAME/manifest.json    names the index folder in use, its files, their sizes and their checksum
    INSTANCE/corpora/NAME/index-TOKEN/     Lucene's files, unchanged once a manifest names them
    INSTANCE/corpora/NAME/problems.txt     the entries of the source that were left out, if there are any
    INSTANCE/corpora/NAME/download/        the files of a Wikipedia that is being fetched
    INSTANCE/corpora/NAME/building/        the state of an unfinished build
        notebook.sqlite3               the plan, the position in the source, the ids seen, the problems
        00000.jsonl ...                the passages, as they will be indexed; a shard ends where a document ends
        index/                         Lucene's files until they are complete

An index is replaced by renaming manifest.json over the old one, so an incomplete index is never searched and a running
server finds the new one by the manifest.

The same command resumes an unfinished build. A shard is committed in one transaction with the position in the source;
anything written after it is written again. A running build holds an exclusive lock on the database.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TextIO, get_args

from app.backends.corpus import jvm
from app.config import FLASK
from app.domain.errors import InvalidInput, ModelUnavailable

MANIFEST = "manifest.json"
BUILDING = "building"
PROBLEMS = "problems.txt"
LAYOUT_VERSION = 3
"""Increased when the indexed content changes: every index must then be rebuilt."""
BUILT_IN = ("vital",)
"""Reserved names: those of the built-in corpora."""
FETCHED_SOURCE = "Wikipedia of "
"""The beginning of the source of a fetched Wikipedia; a date follows."""
RESUME_FIX = "the same command again, which goes on where it was"
BATCH_SIZE = 1000
BUFFER_MB = 64
"""Lucene's buffer for a segment; the JVM's heap (JAVA_MEMORY) must be larger."""

Kind = Literal["built-in", "built"]
PrintLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The sources, time and software of an index build; `source` is the origin of the text, with its licence.

    `index` is the folder of Lucene's files, relative to the corpus's folder.
    """

    corpus: str
    title: str
    source: str
    kind: Kind
    count: int  # passages
    index: str
    files: dict[str, int]
    index_checksum: str
    source_checksum: str
    pyserini: str
    built_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    layout: int = LAYOUT_VERSION

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of the corpus in `folder`. Raises ModelUnavailable when it is missing, old or damaged."""
        fix = fix_for(folder.name)
        try:
            row = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            if row["layout"] != LAYOUT_VERSION or row["kind"] not in get_args(Kind):
                fix = fix_for(folder.name, row["kind"], row["source"])
                raise ModelUnavailable(f"The index of the corpus {folder.name} is of another version of Hopcheck", fix)
            return cls(**row)
        except (FileNotFoundError, NotADirectoryError):
            raise ModelUnavailable(f"The index of the corpus {folder.name} is missing", fix) from None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ModelUnavailable(f"The index of the corpus {folder.name} is damaged", fix) from error

    @property
    def bytes(self) -> int:
        """Return the size of the index on disk in bytes."""
        return sum(self.files.values())

    @property
    def fix(self) -> str:
        """Return the command that makes the index again."""
        return fix_for(self.corpus, self.kind, self.source)

    @property
    def named_source(self) -> str:
        """Return the corpus's name and the origin of its text, as a passage shows them."""
        return f"{self.title} ({self.source})" if self.source else self.title


def fix_for(name: str, kind: Kind | Literal[""] = "", source: str = "") -> str:
    """Return the command that repairs the index of the corpus `name`, as far as its manifest's fields show it."""
    if name in BUILT_IN:
        return "make corpus"
    if name.endswith("-wikipedia") and (not kind or source.startswith(FETCHED_SOURCE)):
        return f"{FLASK} corpus fetch {name} --replace"
    return f"{FLASK} corpus build {name} --from PATH --replace"


def read_complete(folder: Path) -> Manifest:
    """Return the manifest after a quick check of all files' sizes. Raises ModelUnavailable if the check fails."""
    manifest = Manifest.read(folder)
    try:
        found = sizes(folder / manifest.index)
    except OSError:
        found = {}
    if found != manifest.files:
        raise ModelUnavailable(f"The index of the corpus {folder.name} is damaged", manifest.fix)
    return manifest


def read_verified(folder: Path) -> Manifest:
    """Return the manifest after checking every byte of the index. Raises ModelUnavailable if the check fails."""
    manifest = read_complete(folder)
    if checksum(folder / manifest.index) != manifest.index_checksum:
        raise ModelUnavailable(f"The index of the corpus {folder.name} is damaged", manifest.fix)
    return manifest


def sizes(index: Path) -> dict[str, int]:
    """Return the names of Lucene's files in `index` with their sizes in bytes."""
    return {path.name: path.stat().st_size for path in sorted(index.iterdir()) if path.name != "write.lock"}


def checksum(index: Path) -> str:
    """Return the SHA-256 over the names and the bytes of Lucene's files in `index`."""
    digest = hashlib.sha256()
    for name, size in sizes(index).items():
        digest.update(f"{name}\0{size}\0".encode())
        with (index / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def manifest_for(
    name: str, title: str, source: str, kind: Kind, count: int, made: Path, source_checksum: str = ""
) -> Manifest:
    """Return the manifest of an index just built in the folder `made`, with a unique name."""
    return Manifest(
        corpus=name,
        title=title or name,
        source=source,
        kind=kind,
        count=count,
        index=f"index-{secrets.token_hex(6)}",
        files=sizes(made),
        index_checksum=checksum(made),
        source_checksum=source_checksum,
        pyserini=version("pyserini"),
    )


def install_index(folder: Path, made: Path, manifest: Manifest) -> None:
    """Install `made`, an index folder on the same disk, as the index of the corpus in `folder`; remove the old one."""
    made.rename(folder / manifest.index)
    write_manifest(folder, manifest)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest atomically, then remove all but its index, the problems and an unfinished build."""
    draft = folder / f"{MANIFEST}.partial"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / MANIFEST)
    for path in folder.iterdir():
        if path.name not in (MANIFEST, BUILDING, PROBLEMS, manifest.index):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def passage_json(id: str, title: str, text: str, url: str | None, described: int = 0) -> str:
    """Return a passage as Pyserini's JSON. Searches cover `contents` (title and text) and `title` again."""
    row = {"id": id, "contents": f"{title}\n{text}", "title": title, "url": url, "described": described}
    return json.dumps(row if described else {name: value for name, value in row.items() if name != "described"})


def write_index(lucene: jvm.Pyserini, index: Path, passages: Iterable[str], report: Callable[[int], None]) -> int:
    """Index `passages` (see `passage_json`) into the new folder `index`; return their number.

    `report` is called after every batch with the number indexed.
    """
    options = ["-index", str(index), "-storeRaw", "-fields", "title", "-memoryBuffer", str(BUFFER_MB)]
    indexer = lucene.index.LuceneIndexer(
        str(index), args=[*options, "-generator", "DefaultLuceneDocumentGenerator"], threads=1
    )
    count, rows = 0, iter(passages)
    try:
        while batch := list(islice(rows, BATCH_SIZE)):
            indexer.add_batch_raw(batch)
            count += len(batch)
            report(count)
    finally:
        indexer.close()
    return count


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
        """Open or create it. Raises InvalidInput when another build has it open, OSError and sqlite3's errors."""
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(folder / "notebook.sqlite3", timeout=0, isolation_level=None)
        try:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA cache_size = -32000")
            self._db.executescript(_TABLES)
            self._db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            self._db.close()
            if error.sqlite_errorname != "SQLITE_BUSY":
                raise
            raise InvalidInput(f"Another build of the corpus {folder.parent.name} is running.", "name") from error
        self.plan, self.state = self._read()

    def _read(self) -> tuple[dict | None, BuildState]:
        row = self._db.execute("SELECT plan, state FROM about").fetchone()
        if not row:
            return None, BuildState()
        state = BuildState(**json.loads(row[1]))
        if isinstance(state.position, list):  # JSON has no tuples
            state = replace(state, position=tuple(state.position))
        return json.loads(row[0]), state

    def begin(self, plan: dict) -> None:
        """Clear everything and store the plan."""
        for table in ("about", "seen", "problems"):
            self._db.execute(f"DELETE FROM {table}")
        self.plan, self.state = plan, BuildState()
        self._db.execute("INSERT INTO about VALUES (?, ?)", (json.dumps(plan), json.dumps(asdict(self.state))))
        self._commit()

    def record_id(self, id: str, place: str) -> str | None:
        """Store that a document with this id is at `place`; return the place of an earlier one, if any."""
        key = blake2b(id.encode("utf-8", "replace"), digest_size=16).digest()
        if self._db.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (key, place)).rowcount:
            return None
        return self._db.execute("SELECT place FROM seen WHERE id = ?", (key,)).fetchone()[0]

    def add_problem(self, line: str) -> None:
        self._db.execute("INSERT INTO problems VALUES (?)", (line,))

    def problems(self) -> Iterator[str]:
        yield from (line for (line,) in self._db.execute("SELECT line FROM problems ORDER BY rowid"))

    def open_shard(self) -> TextIO:
        return self._path(self.state.shards).open("w", encoding="ascii")

    def commit_shard(self, state: BuildState) -> None:
        """Commit the shard with the new state and all ids and problems stored since the last one."""
        self.state = replace(state, shards=self.state.shards + 1)
        self._db.execute("UPDATE about SET state = ?", (json.dumps(asdict(self.state)),))
        self._commit()

    def passage_lines(self) -> Iterator[str]:
        """Yield the lines of all committed shards."""
        for number in range(self.state.shards):
            with self._path(number).open(encoding="ascii") as file:
                yield from file

    def close(self) -> None:
        """Close the database; the state after the last committed shard remains."""
        self._db.close()

    def discard(self) -> None:
        """Close and remove the folder, after the build has finished or was abandoned."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):
            self._folder.parent.rmdir()  # fails if the folder holds a corpus

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:05}.jsonl"

    def _commit(self) -> None:
        self._db.execute("COMMIT")
        self._db.execute("BEGIN EXCLUSIVE")


def write_lines(path: Path, lines: Iterator[str]) -> None:
    """Replace the file by one with these lines; without lines, only remove it."""
    path.unlink(missing_ok=True)
    if (first := next(lines, None)) is not None:
        with path.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{line}\n" for line in chain((first,), lines))
