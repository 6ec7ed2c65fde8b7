"""The checks of `doctor`. Each imports what it checks, so that a package that is missing fails only its own check."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dotenv import dotenv_values

from app.backends.local.base_model import LOCAL_MODELS, SHIPPED, require_whole
from app.capabilities.options import default_corpora
from app.config import FLASK, make, model_packages
from app.config.secret_key import MIN_LENGTH
from app.config.settings import ROOT, Settings, settings_fields
from app.doctor import Check, Finding, ok, problem, warning
from app.domain.errors import CallFailed, HopcheckError, ModelUnavailable, SettingsError

MIB, GIB = 1024**2, 1024**3
MIN_MEMORY, RECOMMENDED_MEMORY = 2 * GIB, 4 * GIB
"""Bytes in total. The models and the JVM take about two GB; the README recommends four."""
_MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The memory limit of a container."""
MIN_FREE, RECOMMENDED_FREE = 50 * MIB, 1024 * MIB
"""Bytes free. An index takes 300 MB; a run some 100 KB."""
COMPOSE_VARIABLES = {"PIP_FLAGS", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "SEARXNG_IMAGE"}
"""Variables of compose.yaml that are no settings."""
RESTORE = "git checkout -- app/models"


def packages(_settings: Settings, root: Path = ROOT) -> Iterator[Finding]:
    """Check that the pinned packages are installed in their versions."""
    site = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    for name, lines, fix in (
        ("requirements.txt", site, make("install")),
        ("pyproject.toml (models)", model_packages(root), make("models")),
    ):
        pins = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", "\n".join(lines), re.MULTILINE)
        found = {package: _installed(package) for package, _ in pins}
        # A local build has the same version with a tag: 2.13.0+cpu.
        differing = [(each, pin) for each, pin in pins if found[each] and found[each].partition("+")[0] != pin]
        if missing := [package for package, installed in found.items() if not installed]:
            yield problem(f"{name} is not fully installed; missing: {', '.join(missing)}", fix)
        if differing:
            listed = "; ".join(f"{package} is {found[package]} and should be {pin}" for package, pin in differing)
            yield warning(f"{listed} ({name})", fix)
        if not missing and not differing:
            yield ok(f"All {len(pins)} of {name} are installed as pinned")


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def memory(_settings: Settings) -> Iterator[Finding]:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _MEMORY_LIMIT.is_file() and (limit := _MEMORY_LIMIT.read_text().strip()).isdecimal():
        total = min(total, int(limit))
    text = f"{total / GIB:.1f} GiB in all"
    if total < MIN_MEMORY:
        yield problem(f"{text}; the models and the search engine need about 2", "Give it 4 GiB")
    elif total < RECOMMENDED_MEMORY:
        yield warning(f"{text}; 4 GiB are recommended", "Give it 4 GiB, or set WORKERS=1 and JAVA_MEMORY=256m")
    else:
        yield ok(text)


def settings_found(settings: Settings, root: Path = ROOT) -> Iterator[Finding]:
    """List settings that differ from the defaults, without secrets, and unknown names in .env."""
    known = settings_fields()
    values, defaults = settings.by_name(), Settings().by_name()
    changed = [name for name in known if values[name] != defaults[name]]
    text = ", ".join(f"{name}={values[name]}" if known[name].repr else f"{name} (not shown)" for name in changed)
    yield ok(f"All valid; changed: {text}" if text else "All valid, all defaults")
    path = root / ".env"
    written = dotenv_values(path) if path.is_file() else {}
    for name in sorted(set(written) - set(known) - set(settings.keys) - COMPOSE_VARIABLES):
        if not name.endswith("_API_KEY"):  # one without a value, so not in `keys`
            near = difflib.get_close_matches(name, known, 1)
            yield warning(f"{name} is not a setting", f"Write {near[0]}" if near else "Remove it", ".env")
    secret = [each for each in written if written[each] and (not known[each].repr if each in known else each in values)]
    if secret and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        yield warning(f"Others on this machine can read {', '.join(secret)}", f"chmod 600 {path}", ".env")


def instance(settings: Settings) -> Iterator[Finding]:
    """Check that the instance folder exists, is writable and has free space."""
    folder = settings.instance
    if not folder.is_dir():
        yield problem(f"{folder} is not there", f"{make('setup')}, or set INSTANCE to a folder")
        return
    try:
        # Permissions do not reveal a read-only disk and do not apply to root, so write a file.
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"1")
            file.flush()
    except OSError as error:
        fix = f"Make room or make it writable for user {os.getuid()}"
        yield problem(f"{folder} cannot be written ({error.strerror})", fix)
        return
    yield ok(f"{folder} is there and can be written")
    free = shutil.disk_usage(folder).free
    text = f"{free / MIB:,.0f} MiB free for {folder}"
    if free < MIN_FREE:
        yield problem(text, "Make room; runs cannot be stored on a full disk", "disk")
    else:
        yield warning(text, "Make room", "disk") if free < RECOMMENDED_FREE else ok(text, "disk")


def signing_key(settings: Settings) -> Iterator[Finding]:
    """Check that the signing key is valid and readable only by its owner."""
    path = settings.instance / "secret_key"
    if settings.secret_key and len(settings.secret_key) < MIN_LENGTH:
        fix = "Remove SECRET_KEY, and a key is generated"
        yield warning(f"SECRET_KEY is shorter than {MIN_LENGTH} characters", fix)
    elif settings.secret_key or not path.exists():
        yield ok("SECRET_KEY is set" if settings.secret_key else "None yet; the first start generates one")
    else:
        try:
            settings.signing_key()
        except SettingsError as error:
            yield problem(f"{error}", f"rm -r {path} (forms that are open then have to be sent twice)")
            return
        if (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            yield problem(f"{path} can be read by others (mode {mode:o})", f"chmod 600 {path}")
        else:
            yield ok(f"{path}, readable by its owner only")


def database(settings: Settings) -> Iterator[Finding]:
    """Check that the database is reachable, migrated, intact and unlocked."""
    from app.runs.db import DatabaseUnavailable, check_database

    try:
        check_database(settings.database_url)
    except DatabaseUnavailable as error:
        yield problem(f"{error}", "Fix that, then run doctor again")
    else:
        yield ok("It is there, whole and up to date")


def workers(settings: Settings) -> Iterator[Finding]:
    """Check that Redis answers and workers are alive, when REDIS_URL is set."""
    if not settings.redis_url:
        yield ok("REDIS_URL is not set: the server executes the runs itself")
        return
    from app.runs.celery_jobs import alive_workers

    try:
        names = alive_workers(settings.redis_url)
    except HopcheckError as error:
        yield problem(f"{error}", "Start Redis, or correct REDIS_URL")
    else:
        found = f"{len(names)}: {', '.join(names)}"
        yield ok(found) if names else warning("No worker is running, so runs wait", f"{FLASK} worker")


def java(settings: Settings) -> Iterator[Finding]:
    """Check that there is a recent JVM and that it starts."""
    from app.backends.corpus.jvm import MIN_JAVA_VERSION, choose_java, java_problem, java_version

    home = choose_java(settings.java_home)
    text, program = f"Version {java_version(home)} in {home}", home / "bin" / "java"
    done = subprocess.run([program, "-version"], capture_output=True, timeout=30) if program.is_file() else None
    if done and done.returncode:
        yield problem(f"{text} does not start", "Reinstall it, or set JAVA_HOME to another")
    elif settings.java_home and home != settings.java_home:
        text = f"JAVA_HOME={settings.java_home} {java_problem(settings.java_home)}; the packaged one is used"
        yield warning(text, f"Set JAVA_HOME to a complete Java {MIN_JAVA_VERSION} or newer, or leave it out")
    else:
        yield ok(text)


def corpora(settings: Settings) -> Iterator[Finding]:
    """Check that each corpus in use has a complete and current index."""
    from app.backends.corpus.index import read_verified
    from app.backends.corpus.registry import CORPORA, folder_of, is_current
    from app.backends.corpus.wikipedia import LIVE, OFF

    for name in default_corpora(settings):
        what = f"corpus {name}"
        if name == LIVE:
            if settings.wikipedia == OFF:
                fix = "Set WIKIPEDIA to a language, such as en, or choose another source"
                yield problem("WIKIPEDIA=off does not offer it", fix, what)
            continue
        try:
            manifest = read_verified(folder := folder_of(settings.instance, name))
        except ModelUnavailable as error:
            yield problem(error.problem.rstrip("."), error.fix, what)
            continue
        if name in CORPORA and not is_current(CORPORA[name], folder):
            text = "Its index was built from other articles or by another version of Pyserini"
            yield warning(text, make("corpus"), what)
        else:
            yield ok(f"{manifest.count:,} passages, whole", what)


def base_model(settings: Settings) -> Iterator[Finding]:
    """Check the local model's base by its SHA-256, or the size of the operator's own."""
    from app.backends.local.weight_files import require_gguf

    for model in LOCAL_MODELS.values():
        base, *_ = model.files(settings)
        if model.own(settings):
            require_gguf(base, model.fix(settings))
            yield ok(f"{base} has the size that its header gives")
        else:
            require_whole(base, model.base)
            yield ok("Whole, by its SHA-256")


def local_model(settings: Settings) -> Iterator[Finding]:
    """Check that the adapters of the local model are whole and as committed."""
    from app.backends.local.weight_files import require_gguf

    for model in LOCAL_MODELS.values():
        folder = SHIPPED / model.folder
        for name in model.adapters:
            require_gguf(folder / f"{name}.gguf", RESTORE)
        for path in folder.glob("*.json"):
            try:
                json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise ModelUnavailable(f"{path} is damaged", RESTORE) from None
        if differing := _differing_from_commit(folder):
            yield warning(differing, f"{RESTORE}, unless it was trained here")
        else:
            yield ok("Its files are complete")


def _differing_from_commit(folder: Path) -> str:
    """Return that a file in `folder` is missing or differs from its committed version, the first one, or ""."""
    command = ["git", "ls-files", "--stage", "."]
    listed = subprocess.run(command, cwd=folder, capture_output=True, text=True) if shutil.which("git") else None
    for line in listed.stdout.splitlines() if listed else ():
        (_, blob, _), path = line.split("\t")[0].split(), folder / line.split("\t")[1]
        content = path.read_bytes() if path.is_file() else b""
        # Not `git diff`: it trusts a file's size and date, which disk corruption does not change.
        if hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest() != blob:
            return f"{path} is missing, or differs from the committed file: retrained here, or damaged"
    return ""


def reranker(_settings: Settings) -> Iterator[Finding]:
    """Check the packaged cross-encoder by its checksums."""
    from app.backends.local.reranker import packaged_reranker

    yield ok(f"Unchanged since its installation in {packaged_reranker()}")


def language_models(settings: Settings) -> Iterator[Finding]:
    """Check the configuration of the language models without calling them."""
    from app.backends.llm.registry import unavailable_reason
    from app.capabilities.availability import Availability
    from app.components import Components
    from app.container.parts import language_models as configured

    models = configured(settings)
    offered = Availability(settings, Components(()), models).capabilities()
    if not models and offered.needs_model(offered.defaults()):
        text = "The default strategy, modules or answerer need one, and none is configured"
        yield problem(text, "Set LOCAL_MODEL, OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE")
    elif not models:
        yield ok("None is configured; the local modules need none")
    for model in models:
        if why := unavailable_reason(model):
            yield problem(f"{model.name}: {why}", "README, Settings")
        else:
            at = f"{model.gguf} (not loaded)" if model.gguf else f"{model.model} at {model.host} (not called)"
            yield ok(f"{model.name}: {at}")


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
            yield problem(str(error), "Check the key, then the model's name, then the server's address", name)
        else:
            yield ok(f"{model.host} answers", name)


CHECKS: tuple[tuple[str, Check], ...] = (
    ("packages", packages),
    ("memory", memory),
    ("settings", settings_found),
    ("instance folder", instance),
    ("signing key", signing_key),
    ("database", database),
    ("Redis and workers", workers),
    ("Java", java),
    ("corpora", corpora),
    ("local model", base_model),
    ("local model's adapters", local_model),
    ("reranker", reranker),
    ("language models", language_models),
)

ONLINE: tuple[tuple[str, Check], ...] = (("language models online", language_models_online),)
"""Checks that call servers and may cost money; run only on request."""
