"""Checks of stored data: the settings, the instance folder, the signing key, the database."""

from __future__ import annotations

import difflib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dotenv import dotenv_values

from app.config.secret_key import MIN_SECRET_LENGTH
from app.config.settings import ROOT, Settings, settings_fields
from app.doctor.findings import Finding, ok, problem, warning
from app.domain.errors import SettingsError

if TYPE_CHECKING:
    from app.runs.db_health import Condition

MIB = 1024**2
MIN_FREE, RECOMMENDED_FREE = 50 * MIB, 1024 * MIB
"""Bytes free. The unpacked model and an index take 300 MB; a run some 100 KB."""
DEFAULTS = Settings()


def settings_found(settings: Settings, root: Path = ROOT) -> Iterator[Finding]:
    """List settings that differ from the defaults, without secrets, and unknown names in .env."""
    changed = [each for each in settings_fields() if getattr(settings, each.name) != getattr(DEFAULTS, each.name)]
    text = [
        f"{each.metadata['env']}={getattr(settings, each.name)}" if each.repr else f"{each.metadata['env']} (not shown)"
        for each in changed
    ]
    yield ok("settings", f"All valid; not as by default: {', '.join(text)}" if text else "All valid, all as by default")
    yield from _env_file(root / ".env")


def _env_file(path: Path) -> Iterator[Finding]:
    if not path.is_file():
        return
    fields = {each.metadata["env"]: each for each in settings_fields()}
    written = dotenv_values(path)
    for name in sorted(set(written) - set(fields)):
        near = difflib.get_close_matches(name, fields, 1)
        yield warning(".env", f"{name} is no setting", f"Write {near[0]}" if near else "Leave it out")
    secret = [name for name in written if name in fields and not fields[name].repr and written[name]]
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
    """Check the free space on the disk of `folder`."""
    free = shutil.disk_usage(folder).free
    text = f"{free / MIB:,.0f} MiB free for {folder}"
    if free < MIN_FREE:
        return problem("disk", text, "Make room; runs cannot be stored on a full disk")
    return warning("disk", text, "Make room") if free < RECOMMENDED_FREE else ok("disk", text)


def signing_key(settings: Settings) -> Iterator[Finding]:
    """Check that the signing key is valid and readable only by its owner."""
    if settings.secret_key:
        if len(settings.secret_key) < MIN_SECRET_LENGTH:
            fix = "Leave SECRET_KEY out, and one is made"
            yield warning("signing key", f"SECRET_KEY is shorter than {MIN_SECRET_LENGTH} characters", fix)
        else:
            yield ok("signing key", "SECRET_KEY is set")
        return
    path = settings.instance / "secret_key"
    if not path.exists():
        yield ok("signing key", "None yet; the first start makes one")
        return
    try:
        settings.signing_key()
    except SettingsError as error:
        yield problem("signing key", f"{error}", f"rm -r {path} (who is logged in to a form then sends it twice)")
        return
    if (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
        yield problem("signing key", f"{path} can be read by others (mode {mode:o})", f"chmod 600 {path}")
    else:
        yield ok("signing key", f"{path}, for its owner alone")


def database(settings: Settings) -> Iterator[Finding]:
    """Check that the database is reachable, migrated, intact, unlocked and in WAL mode."""
    from app.runs.db_health import check_database

    seen = check_database(settings.database_url)
    if seen.is_missing:
        yield problem("database", f"{seen.where} is not there", "make setup")
    elif seen.problem:
        yield problem("database", f"{seen.where}: {seen.problem}", "Put that right, then ask again")
    else:
        yield from _usable(seen)


def _usable(seen: Condition) -> Iterator[Finding]:
    """Yield the findings for a database that can be read."""
    if seen.revision != seen.newest:
        found = f"It is at version {seen.revision or 'none'} and not at {seen.newest}"
        yield problem("database", found, "make setup, or flask --app app db upgrade")
    if seen.damage:
        yield problem("database", f"{seen.where} is damaged: {seen.damage}", "Put a backup in its place")
    if seen.is_locked:
        message = "Another program holds it locked, so no run can be stored"
        yield problem("database", message, f"Find and stop that program: fuser {seen.where}")
    if seen.journal not in (None, "wal"):
        message = f"Its journal mode is {seen.journal} and not WAL, so pages wait for runs"
        yield warning("database", message, "Keep it on a disk of this machine, not on a network share")
    if seen.revision == seen.newest and not seen.damage and not seen.is_locked:
        yield ok("database", f"{seen.where}, version {seen.revision}, whole")
