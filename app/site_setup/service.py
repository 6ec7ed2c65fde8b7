"""The actions of the page "Set up". The commands of app/cli download and index, each in a task."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from app.backends.added import (
    KEY,
    AddedModel,
    add_key,
    add_model,
    added_keys,
    added_models,
    remove_model,
    with_added_keys,
)
from app.backends.corpus.builder import checked_name
from app.backends.corpus.documents import SUFFIXES
from app.backends.corpus.index import MANIFEST
from app.backends.corpus.registry import check_removable, folder_of, remove_corpus
from app.backends.corpus.snapshots import DOWNLOAD, find_wikipedia
from app.backends.fact_checks import FactCheckSearch, FactCheckTools
from app.backends.fetch.addresses import checked_addresses, is_public, system_resolve
from app.backends.hub import HUB_PREFIX, look_up, split_file_name
from app.backends.llm.openai_client import ask_for_a_word
from app.backends.local.base_model import LOCAL_MODELS, base_model_path, is_obtained
from app.backends.local.llama_cpp import HUB_FOLDER, gguf_path
from app.backends.web_search.registry import PROVIDERS, configured_searches
from app.capabilities.options import default_corpora
from app.config.settings import Settings
from app.container.parts import language_models
from app.doctor import Finding, run_checks
from app.doctor.checks import CHECKS
from app.domain.errors import InvalidInput, SettingsError
from app.domain.messages import Words
from app.site_setup.tasks import Task, Tasks, Work

MAX_FILES = 200
MAX_STEM_BYTES = 120
"""UTF-8 bytes of a file's name without its suffix; file systems allow 255 for the whole name."""
MAX_TITLE_CHARACTERS = 100
RESOLVE_SECONDS = 5.0
TRIED = "The Earth is flat"
"""What a service is asked about before its key is stored."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What would be downloaded. `about` has its date or its files."""

    name: str
    title: str
    bytes: int
    licence: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Service:
    """A search engine, or the lookup of published fact-checks, and whether it has a key."""

    setting: str
    title: str
    is_given: bool
    """By the settings, which this page cannot change."""
    is_added: bool


class SiteSetup:
    """What one installation can be given while it runs."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tasks = Tasks(settings.instance)
        self._checking = threading.Lock()

    # Language models

    def models(self) -> tuple[AddedModel, ...]:
        """Return the models that were added here. Raises SettingsError for a damaged file."""
        return added_models(self._settings.instance)

    def add_model(self, url: str, model: str, key: str, name: str = "") -> str:
        """Ask the model for a word and then store it with its key; return its name.

        Raises InvalidInput, naming the field, and CallFailed when the model does not answer.
        """
        fields = {
            "base_url": url.strip(),
            "model": model,
            "name": name.strip() or model,
            "api_key": key.strip() or None,
        }
        try:
            added = AddedModel.model_validate(fields)
        except ValidationError as error:
            field = str(error.errors(include_input=False)[0]["loc"][0])
            raise InvalidInput(_EXPECTED[field], field) from None
        if any(each.name == added.name for each in language_models(self._settings)):
            raise InvalidInput(
                Words("There is a language model {name} already; choose another name.", name=added.name), "name"
            )
        if not self._settings.is_local:
            self._require_public(added.base_url)
        ask_for_a_word(added.settings(), self._settings.call_seconds)
        add_model(self._settings.instance, added)
        return added.name

    def remove_model(self, name: str) -> None:
        remove_model(self._settings.instance, name)

    @staticmethod
    def _require_public(url: str) -> None:
        """Refuse servers inside the network of a site that others reach (SSRF). Raises CallFailed."""
        address = urlsplit(url)
        try:
            port = address.port or (443 if address.scheme == "https" else 80)
        except ValueError:
            raise InvalidInput(_EXPECTED["base_url"], "base_url") from None
        checked_addresses(address.hostname or "", port, RESOLVE_SECONDS, system_resolve, is_public)

    # Search engines and published fact-checks

    def services(self) -> tuple[Service, ...]:
        """Return what a key can be added for. Raises SettingsError for a damaged file."""
        added, given = added_keys(self._settings.instance), self._settings.by_name()
        kinds: tuple[type[Any], ...] = (*PROVIDERS, FactCheckTools)
        return tuple(
            Service(each.setting, each.title, bool(given.get(each.setting)), each.setting in added) for each in kinds
        )

    def add_key(self, setting: str, key: str) -> str:
        """Ask the service for a result and then store its key, or the address of a SearXNG; return `setting`.

        Raises InvalidInput, naming the field, and CallFailed when the service gives none.
        """
        key, settings = key.strip(), self._settings
        if setting not in (each.setting for each in self.services()):
            raise InvalidInput(Words("Choose a service of the list."), "service")
        try:
            searches = configured_searches({setting: KEY.validate_python(key)}, settings.call_seconds)
        except ValidationError:
            raise InvalidInput(_EXPECTED["api_key"], "service_key") from None
        except SettingsError as error:
            raise InvalidInput(f"{error}.", "service_key") from None
        if "://" in key and not settings.is_local:
            self._require_public(key)
        for search in searches:
            search.search(TRIED, 1)
        if not searches:
            FactCheckSearch(FactCheckTools(key, settings.fact_check_url), settings.call_seconds).look_up(TRIED)
        add_key(settings.instance, setting, key)
        return setting

    def remove_key(self, setting: str) -> None:
        add_key(self._settings.instance, setting, None)

    # Downloads

    def offer(self, name: str) -> Offer:
        """Return size and licence of a download, as its server states them.

        `name` is LANGUAGE-wikipedia, hub:OWNER/REPOSITORY/FILE.gguf, or one of LOCAL_MODELS. Raises InvalidInput for
        another one, ModelUnavailable when the server cannot be reached or does not have it.
        """
        if local := LOCAL_MODELS.get(name):
            return Offer(
                name, Words("The local model: {title}", title=local.base.title), local.base.bytes, local.base.licence
            )
        if name.startswith(HUB_PREFIX):
            repository, file = split_file_name(name)
            found = look_up(repository, file)
            return Offer(name, f"{file} of {repository}", found.bytes or 0, found.licence)
        wikipedia = find_wikipedia(name)
        files = Words("{count} file", "{count} files", count=len(wikipedia.files))
        about = Words("as of {day:%-d %B %Y}, {files}", day=wikipedia.day, files=files)
        return Offer(name, wikipedia.title, wikipedia.bytes, wikipedia.licence, about)

    def download(self, name: str) -> None:
        """Start the download, or continue one that was stopped. Raises as `offer` does."""
        offer = self.offer(name)
        arguments: tuple[str, ...] = ("models", "fetch", name)
        if local := LOCAL_MODELS.get(name):
            path = base_model_path(self._settings, local.base)
            made, growing = path.with_name(f"{path.name}.checked"), path.with_name(f".{path.name}.partial")
        elif name.startswith(HUB_PREFIX):
            made = gguf_path(name, self._settings.instance)
            growing, arguments = made.with_name(f".{made.name}.*.partial"), (*arguments, "--yes")
        else:
            folder = folder_of(self._settings.instance, name)
            made, growing = folder / MANIFEST, folder / DOWNLOAD / "**" / "*"
            arguments = ("corpus", "fetch", name, "--yes")
        if made.exists():
            raise InvalidInput(Words("{title} is on this machine already.", title=offer.title), "name")
        task = re.sub(r"[^\w.-]+", "-", name)
        self._tasks.start(Work(task, offer.title, arguments, self._inside(made), self._inside(growing), offer.bytes))

    model_names = tuple(LOCAL_MODELS)

    @property
    def missing_models(self) -> list[str]:
        """Return the local models whose base is not on this machine, by name."""
        at = self._settings
        return [name for name, each in LOCAL_MODELS.items() if not (each.own(at) or is_obtained(at, each.base))]

    # Documents

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(SUFFIXES)

    def add_documents(self, title: str, source: str, files: Iterable[tuple[str, IO[bytes]]]) -> None:
        """Start to make a corpus of files, given by name and content. Raises InvalidInput."""
        files = list(files)
        if not 1 <= len(files) <= MAX_FILES:
            raise InvalidInput(
                Words("Choose at least one file, and at most {max_files}.", max_files=MAX_FILES), "files"
            )
        title, source = (_one_line(each)[:MAX_TITLE_CHARACTERS] for each in (title, source))
        named = dict(zip(_safe_names(name for name, _ in files), (content for _, content in files), strict=True))
        title = title or Path(next(iter(named))).stem
        name = self._free_name(title)
        folder = self._uploads(name)
        folder.mkdir(parents=True)
        try:
            for file, content in named.items():
                with (folder / file).open("wb") as copy:
                    shutil.copyfileobj(content, copy)
            # One argument for each option, so that no title is read as another option.
            options = (f"--from={folder}", "--format=folder", f"--title={title}", f"--source={source}")
            made = folder_of(self._settings.instance, name) / MANIFEST
            self._tasks.start(Work(name, title, ("corpus", "build", name, *options), self._inside(made)))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _free_name(self, title: str) -> str:
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "documents"
        names = (slug, *(f"{slug}-{number}" for number in range(2, 1000)))
        for name in names:
            if not (folder_of(self._settings.instance, name).exists() or self._uploads(name).exists()):
                try:
                    return checked_name(name)
                except InvalidInput:  # the name of a built-in corpus
                    continue
        raise InvalidInput(Words("There are too many sources of this title; choose another one."), "title")

    def _uploads(self, name: str) -> Path:
        return self._settings.instance / "uploads" / name

    # Tasks

    def tasks(self) -> tuple[Task, ...]:
        """Return what is or was downloaded and made here, the newest first, and clear up after what is done."""
        found = self._tasks.all()
        for task in found:
            if task.is_done:
                shutil.rmtree(self._uploads(task.work.name), ignore_errors=True)
        return found

    def stop(self, name: str) -> None:
        """Stop a task. Raises InvalidInput if it runs on another machine."""
        self._tasks.stop(self._task(name).work.name)

    def resume(self, name: str) -> None:
        """Continue a task that was stopped. Raises InvalidInput while others run."""
        self._tasks.start(self._task(name).work)

    def remove(self, name: str) -> None:
        """Stop a task and remove what it made or fetched. Raises InvalidInput."""
        work = self._task(name).work
        check_removable(work.name, default_corpora(self._settings))
        self._tasks.stop(work.name)
        made = self._settings.instance / work.made
        if made.name == MANIFEST:
            remove_corpus(made.parent)
        elif self._settings.instance / HUB_FOLDER in made.parents:
            made.unlink(missing_ok=True)
        for partial in self._settings.instance.glob(work.growing) if work.growing else ():
            partial.unlink(missing_ok=True)
        shutil.rmtree(self._uploads(work.name), ignore_errors=True)
        self._tasks.forget(work.name)

    def _task(self, name: str) -> Task:
        """Return the task; names are compared, never used as paths. Raises InvalidInput."""
        for task in self._tasks.all():
            if task.work.name == name:
                return task
        raise InvalidInput(Words("There is no such download or source any more."), "name")

    def _inside(self, path: Path) -> str:
        return str(path.relative_to(self._settings.instance))

    # Checks

    def check_installation(self) -> tuple[Finding, ...]:
        """Return the findings of `doctor`; one check at a time, since it reads whole model files."""
        with self._checking:
            return tuple(run_checks(with_added_keys(self._settings), CHECKS))


_EXPECTED = {
    "base_url": Words("The server must be an address like https://api.openai.com/v1, without a password in it."),
    "model": Words("Name the model as its server does, on one line of at most 200 characters."),
    "name": Words("The name must be one line of at most 200 characters."),
    "api_key": Words("The key holds characters that no key has, such as spaces."),
}


def _one_line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _safe_names(names: Iterable[str]) -> list[str]:
    """Return names for files in one folder, each different, without folders in them. Raises InvalidInput."""
    safe: dict[str, None] = {}
    for number, name in enumerate(names, 1):
        last = re.split(r"[/\\]", name)[-1]
        stem, dot, suffix = last.rpartition(".")
        suffix = f"{dot}{suffix.lower()}"
        if suffix not in SUFFIXES:
            raise InvalidInput(
                Words("{file} is none of: {suffixes}.", file=_one_line(last) or "A file", suffixes=", ".join(SUFFIXES)),
                "files",
            )
        stem = (
            re.sub(r"[^\w ()+,-]+", "_", _one_line(stem)).encode()[:MAX_STEM_BYTES].decode(errors="ignore").strip(" _")
        )
        stem = stem or f"document {number}"
        free = (f"{stem}{again}{suffix}" for again in ("", *(f" ({count})" for count in range(2, MAX_FILES + 2))))
        safe[next(each for each in free if each.lower() not in {taken.lower() for taken in safe})] = None
    return list(safe)
