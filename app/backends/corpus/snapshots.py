"""Fetch the Wikipedia of a language as a corpus, from the data set wikimedia/wikipedia of the Hugging Face hub.

Its Parquet files are removed once the corpus is built from them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from app.backends.corpus.bm25 import Java
from app.backends.corpus.builder import BuildCounts, BuildRequest, build_corpus, check_replaced
from app.backends.corpus.index import FETCHED_SOURCE, Manifest, PrintLine
from app.backends.hub import download, hub_errors
from app.domain.errors import InvalidInput, ModelUnavailable
from app.text.claims import UNKNOWN_LANGUAGE, language_name

FIX = "the same command where the hub can be reached; what was fetched is kept"
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
    from huggingface_hub import HfApi

    with hub_errors(name, FIX):
        listed = HfApi().dataset_info(WIKIPEDIA, files_metadata=True)
    matches = ((_WIKIPEDIA_FILE.fullmatch(each.rfilename), each.size or 0) for each in listed.siblings or ())
    language, known = named[1], language_name(named[1])
    spoken = {"simple": "Simple"}.get(language, language if known == UNKNOWN_LANGUAGE else known)
    of_language = [(found[1], found[0], size) for found, size in matches if found and found[2] == language]
    if not of_language:
        raise InvalidInput(f"There is no Wikipedia of the language {language} at {WIKIPEDIA}.", "name")
    newest = max(day for day, _, _ in of_language)
    files = {file: size for day, file, size in of_language if day == newest}
    stated = getattr(listed.card_data, "license", None) or "CC BY-SA"
    licences = [stated] if isinstance(stated, str) else stated
    return WikipediaSnapshot(
        name,
        f"{spoken} Wikipedia",
        datetime.strptime(newest, "%Y%m%d").date(),
        ", ".join(each.upper().replace("CC-BY-SA-", "CC BY-SA ") for each in licences),
        listed.sha or "main",
        files,
    )


def install_wikipedia(
    found: WikipediaSnapshot, folder: Path, java: Java, say: PrintLine, *, replaces: bool = False
) -> tuple[Manifest, BuildCounts]:
    """Fetch the files unless they are there, build the corpus of this name from them, and remove them."""
    check_replaced(folder, replaces)
    from huggingface_hub import hf_hub_url

    into = folder / DOWNLOAD
    try:
        for number, file in enumerate(found.files, 1):
            say(f"fetching file {number} of {len(found.files)}, {found.files[file] / 1e6:,.1f} MB, unless it is there")
            if not (into / file).exists():
                with hub_errors(found.name, FIX):
                    download(hf_hub_url(WIKIPEDIA, file, repo_type="dataset", revision=found.revision), into / file)
    except OSError as error:
        problem = f"{found.name} could not be written ({error.strerror})"
        raise ModelUnavailable(problem, "free space or permission to write there, then the same command") from error
    files = (into / next(iter(found.files))).parent
    request = BuildRequest(found.name, files, "wikipedia", found.title, found.source)
    return build_corpus(request, folder, java, say, replaces=replaces)
