"""Lucene indexes on disk: layout, manifest and atomic replacement.

    INSTANCE/corpora/NAME/manifest.json    names the index folder in use, its files, their sizes and their checksum
    INSTANCE/corpora/NAME/index-TOKEN/     Lucene's files, unchanged once a manifest names them
    INSTANCE/corpora/NAME/problems.txt     the entries of the source that were left out, if there are any
    INSTANCE/corpora/NAME/download/        the files of a Wikipedia that is being fetched
    INSTANCE/corpora/NAME/building/        the files of an unfinished build

An index is replaced by renaming manifest.json over the old one, so an incomplete index is never searched and a running
server finds the new one by the manifest.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

from app.backends.corpus import jvm
from app.config import FLASK, make
from app.domain.errors import ModelUnavailable
from app.domain.messages import Words

MANIFEST = "manifest.json"
BUILDING = "building"
PROBLEMS = "problems.txt"
LAYOUT_VERSION = 3
"""Increased when the indexed content changes: every index must then be rebuilt."""
BUILT_IN = ("vital",)
"""Reserved names: those of the built-in corpora."""
FETCHED_SOURCE = "Wikipedia of "
"""The beginning of the source of a fetched Wikipedia; a date follows."""
RETRY_FIX = "the same command again"
BATCH_SIZE = 1000
BUFFER_MB = 64
"""Lucene's buffer for a segment; the JVM's heap (JAVA_MEMORY) must be larger."""

Kind = Literal["built-in", "built"]
PrintLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The sources, time and software of an index build."""

    corpus: str
    title: str
    source: str  # the origin of the text, with its licence
    kind: Kind
    count: int  # passages
    index: str  # the folder of Lucene's files, relative to the corpus's folder
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
            raise ModelUnavailable(Words("The index of the corpus {name} is missing", name=folder.name), fix) from None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ModelUnavailable(f"The index of the corpus {folder.name} is damaged", fix) from error

    @property
    def bytes(self) -> int:
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
        return make("corpus")
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
    """Index `passages` (see `passage_json`) into the new folder `index`; return their number."""
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
