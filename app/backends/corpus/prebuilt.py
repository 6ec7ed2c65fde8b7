"""Pyserini's prebuilt indexes by name, such as `wikipedia-kilt-doc`: fetched by Pyserini and searched in place.

The downloaded index stays in Pyserini's own cache (PYSERINI_CACHE, by default ~/.cache/pyserini), so that other
programs share it; the corpus's manifest points there. Pyserini checks the download's size and MD5 sum itself.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import Java
from app.backends.corpus.builder import checked_name
from app.backends.corpus.index import MANIFEST, Manifest, Progress, sizes, write_manifest
from app.domain.errors import InvalidInput, ModelUnavailable

log = logging.getLogger(__name__)

READ_TIMEOUT_SECONDS = 60.0
"""Seconds without receiving data after which a download fails."""

Fetch = Callable[[str, Progress], Path]


def install_prebuilt(
    name: str,
    prebuilt: str,
    folder: Path,
    java: Java,
    say: Progress,
    title: str = "",
    source: str = "",
    *,
    replaces: bool = False,
    fetch: Fetch | None = None,
) -> Manifest:
    """Install Pyserini's index `prebuilt` as the corpus `name` in `folder`; return its manifest.

    Raises InvalidInput for an invalid name, and ModelUnavailable when it cannot be fetched or searched.
    """
    checked_name(name)
    if (folder / MANIFEST).exists() and not replaces:
        raise InvalidInput(f"There is a corpus {name} already; add --replace to put this one in its place.", "name")
    lucene = jvm.start(java.home, java.memory)
    index = (fetch or fetch_by_pyserini)(prebuilt, say)
    manifest = Manifest(
        corpus=name,
        title=title or prebuilt,
        source=source or f"Pyserini's prebuilt index {prebuilt}",
        kind="prebuilt",
        count=_count_documents(lucene, index, prebuilt),
        index=str(index.resolve()),
        files=sizes(index),
        index_checksum="",
        source_checksum="",
        pyserini=lucene.version,
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_manifest(folder, manifest)
    return manifest


def fetch_by_pyserini(prebuilt: str, say: Progress) -> Path:
    """Return the index's folder in Pyserini's cache, fetching it if it is missing. The JVM must be running.

    Raises InvalidInput for a name that Pyserini does not know, ModelUnavailable when it cannot be fetched.
    """
    from pyserini.prebuilt_index_info import TF_INDEX_INFO

    with jvm.stubbed("pandas"):  # Pyserini uses it only to print tables
        from pyserini.util import download_prebuilt_index

    if prebuilt not in TF_INDEX_INFO:
        raise InvalidInput(f"Pyserini has no prebuilt BM25 index {prebuilt}.", "prebuilt")
    size = TF_INDEX_INFO[prebuilt]["size compressed (bytes)"]
    say(f"fetching {prebuilt}, {size / 1e9:.1f} GB, unless Pyserini has it already")
    try:
        with _socket_timeout():
            return Path(download_prebuilt_index(prebuilt, verbose=False))
    # Raises errors of the network, tarfile and its own asserts, and a plain ValueError when no address responds.
    except Exception as error:
        log.info("Pyserini could not fetch %s", prebuilt, exc_info=True)
        message = f"The prebuilt index {prebuilt} could not be fetched ({type(error).__name__})"
        raise ModelUnavailable(message, fix="the same command on a machine that reaches Pyserini's server") from error


@contextmanager
def _socket_timeout() -> Iterator[None]:
    """Set a socket timeout: Pyserini's downloader sets none and could wait forever for an unresponsive server."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(READ_TIMEOUT_SECONDS)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _count_documents(lucene: jvm.Pyserini, index: Path, prebuilt: str) -> int:
    """Return the number of documents. Raises ModelUnavailable when the index cannot be opened or stores no texts."""
    fix = "another prebuilt index"
    try:
        searcher = lucene.search.LuceneSearcher(str(index))
        count, first = searcher.num_docs, searcher.doc(0)
        raw = first.raw() if first else None
        searcher.close()
    except Exception as error:
        raise ModelUnavailable(f"The prebuilt index {prebuilt} cannot be opened", fix=fix) from error
    if not raw:
        raise ModelUnavailable(f"The prebuilt index {prebuilt} does not keep the texts of its documents", fix=fix)
    return count
