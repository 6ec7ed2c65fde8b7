"""Corpora that are fetched by name: Pyserini's prebuilt indexes, and the Wikipedia of a language.

A prebuilt index, such as `wikipedia-kilt-doc`, stays in Pyserini's own cache (PYSERINI_CACHE, by default
~/.cache/pyserini), so that other programs share it, and is searched there; the corpus's manifest points to it. Pyserini
checks the download's size and MD5 sum itself.

A Wikipedia comes from the data set wikimedia/wikipedia of the Hugging Face hub as Parquet files, from which its corpus
is built. They are removed once it is.
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from errno import EACCES, EDQUOT, EFBIG, EIO, EISDIR, ENOSPC, ENOTDIR, EPERM, EROFS
from pathlib import Path

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import Java
from app.backends.corpus.builder import BuildRequest, build_corpus, check_replaced, checked_name
from app.backends.corpus.index import FETCHED_SOURCE, BuildState, Manifest, PrintLine, sizes, write_manifest
from app.backends.hub import download
from app.domain.errors import InvalidInput, ModelUnavailable
from app.text.claims import UNKNOWN_LANGUAGE, language_name

log = logging.getLogger(__name__)

READ_TIMEOUT_SECONDS = 60.0
"""Seconds without receiving data after which a download fails."""

DISK_ERRORS = (EACCES, EDQUOT, EFBIG, EIO, EISDIR, ENOSPC, ENOTDIR, EPERM, EROFS)
"""The errno of an OSError of the disk. With another one, or none, it counts as an error of the network."""

Fetch = Callable[[str, PrintLine], Path]


def install_prebuilt(
    name: str,
    prebuilt: str,
    folder: Path,
    java: Java,
    say: PrintLine,
    title: str = "",
    source: str = "",
    *,
    replaces: bool = False,
    fetch: Fetch | None = None,
) -> Manifest:
    """Install Pyserini's index `prebuilt` as the corpus `name` in `folder`; return its manifest.

    Raises InvalidInput for an invalid name, an unknown index or an existing corpus, and ModelUnavailable when the index
    cannot be fetched, searched or installed.
    """
    checked_name(name)
    check_replaced(folder, replaces)
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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_manifest(folder, manifest)
    except OSError as error:
        raise _not_written(name, error) from error
    return manifest


def fetch_by_pyserini(prebuilt: str, say: PrintLine) -> Path:
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
    # Pyserini raises errors of the network, of tarfile and of its asserts, and ValueError when no address responds.
    except Exception as error:
        log.info("Pyserini could not fetch %s", prebuilt, exc_info=True)
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            raise _not_written(f"The prebuilt index {prebuilt}", error) from error
        message = f"The prebuilt index {prebuilt} could not be fetched ({type(error).__name__})"
        raise ModelUnavailable(message, fix="the same command on a machine that reaches Pyserini's server") from error


def _not_written(what: str, error: OSError) -> ModelUnavailable:
    reason = error.strerror or type(error).__name__
    return ModelUnavailable(
        f"{what} could not be written ({reason})", fix="free space or permission to write there, then the same command"
    )


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


WIKIPEDIA = "wikimedia/wikipedia"
"""The data set on the Hugging Face hub. HF_ENDPOINT names another server."""
DOWNLOAD = "download"
"""The folder of fetched files inside the corpus's; `write_manifest` removes it when the index is installed."""

_WIKIPEDIA_NAME = re.compile(r"([a-z]{2,}(?:-[a-z]+)*)-wikipedia")
_WIKIPEDIA_FILE = re.compile(r"(\d{8})\.([a-z-]+)/[^/]+\.parquet")


@dataclass(frozen=True, slots=True)
class WikipediaSnapshot:
    """The newest snapshot of the Wikipedia of a language, as the hub lists it; sizes in bytes."""

    name: str
    title: str
    day: date
    licence: str
    revision: str
    files: dict[str, int]

    @property
    def bytes(self) -> int:
        return sum(self.files.values())

    @property
    def source(self) -> str:
        """Return where the text is from, with its licence, as passages name it."""
        return f"{FETCHED_SOURCE}{self.day:%-d %B %Y}, {self.licence}"


def find_wikipedia(name: str) -> WikipediaSnapshot:
    """Return what the hub has for a name like simple-wikipedia or de-wikipedia.

    Raises InvalidInput for another name and for a language without a Wikipedia there, ModelUnavailable when the hub
    cannot be reached.
    """
    if not (named := _WIKIPEDIA_NAME.fullmatch(name)):
        raise InvalidInput(f"{name} cannot be fetched; a name is LANGUAGE-wikipedia, such as simple-wikipedia.", "name")
    from httpx2 import HTTPError
    from huggingface_hub import HfApi

    try:
        listed = HfApi().dataset_info(WIKIPEDIA, files_metadata=True)
    except (HTTPError, OSError) as error:
        raise _unreachable(name, error) from error
    matches = ((_WIKIPEDIA_FILE.fullmatch(each.rfilename), each.size or 0) for each in listed.siblings or ())
    of_language = [(found[1], found[0], size) for found, size in matches if found and found[2] == named[1]]
    if not of_language:
        raise InvalidInput(f"There is no Wikipedia of the language {named[1]} at {WIKIPEDIA}.", "name")
    newest = max(day for day, _, _ in of_language)
    files = {file: size for day, file, size in of_language if day == newest}
    return WikipediaSnapshot(
        name,
        _wikipedia_title(named[1]),
        datetime.strptime(newest, "%Y%m%d").date(),
        _licence(listed),
        listed.sha or "main",
        files,
    )


def _wikipedia_title(language: str) -> str:
    if language == "simple":
        return "Simple Wikipedia"
    known = language_name(language)
    return f"{language if known == UNKNOWN_LANGUAGE else known} Wikipedia"


def _licence(listed: object) -> str:
    named = getattr(getattr(listed, "card_data", None), "license", None)
    if not named:
        return "CC BY-SA"
    names = [named] if isinstance(named, str) else named
    return ", ".join(each.upper().replace("CC-BY-SA-", "CC BY-SA ") for each in names)


def install_wikipedia(
    found: WikipediaSnapshot, folder: Path, java: Java, say: PrintLine, *, replaces: bool = False, anew: bool = False
) -> tuple[Manifest, BuildState]:
    """Fetch the files, build the corpus of this name from them in `folder`, and remove them.

    After an interruption, the same call goes on with both. Raises as `find_wikipedia` and `build_corpus` do.
    """
    check_replaced(folder, replaces)
    from httpx2 import HTTPError
    from huggingface_hub import hf_hub_url

    into = folder / DOWNLOAD
    for number, file in enumerate(found.files, 1):
        say(f"fetching file {number} of {len(found.files)}, {found.files[file] / 1e6:,.1f} MB, unless it is there")
        try:
            if not (into / file).exists():
                download(hf_hub_url(WIKIPEDIA, file, repo_type="dataset", revision=found.revision), into / file)
        except (HTTPError, OSError) as error:
            if isinstance(error, OSError) and error.errno in DISK_ERRORS:
                raise _not_written(found.name, error) from error
            raise _unreachable(found.name, error) from error
    files = (into / next(iter(found.files))).parent
    request = BuildRequest(found.name, files, "wikipedia", found.title, found.source)
    return build_corpus(request, folder, java, say, replaces=replaces, anew=anew)


def _unreachable(name: str, error: Exception) -> ModelUnavailable:
    log.info("The hub did not give %s", name, exc_info=True)
    problem = f"{name} could not be fetched from the Hugging Face hub ({type(error).__name__})"
    return ModelUnavailable(problem, fix="the same command where the hub can be reached; what was fetched is kept")
