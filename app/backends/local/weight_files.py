"""Verify model files: by checksums, or by the lengths in the header of a weight file."""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from app.domain.errors import ModelUnavailable

CHECKSUMS_FILE = "SHA256SUMS"
FIX = "make models"
"""The command that reinstalls the packages that contain models, even if pip considers them installed."""


def write_checksums(folder: Path) -> None:
    """Write the checksum of every file in `folder` to its SHA256SUMS."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != CHECKSUMS_FILE)
    (folder / CHECKSUMS_FILE).write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files), encoding="utf-8")


def matches_checksums(folder: Path) -> bool:
    """Return whether `folder` has a SHA256SUMS and every file that it lists matches its checksum."""
    try:
        checksums = _read_checksums(folder)
        return bool(checksums) and all(sha256(path) == digest for path, digest in checksums.items())
    except (OSError, ValueError):
        return False


def unchanged_since_checked(folder: Path) -> bool:
    """Return `matches_checksums`, but without reading the files if none was modified since they last matched.

    That time is the modification time of SHA256SUMS. Disk corruption is not detected here, but by the command
    `doctor`, which reads every file.
    """
    try:
        checked_at, checksums = (folder / CHECKSUMS_FILE).stat().st_mtime_ns, _read_checksums(folder)
        # st_ctime is the time of the last change here; the st_mtime of a copied file may be older.
        if checksums and all(path.stat().st_ctime_ns < checked_at for path in checksums):
            return True
    except (OSError, ValueError):
        return False
    if not matches_checksums(folder):
        return False
    with suppress(OSError):  # in a read-only folder, every start reads the files again
        (folder / CHECKSUMS_FILE).touch()
    return True


def is_as_installed(path: Path, package: str) -> bool:
    """Return whether `path` is unchanged since `package` was installed; True without a recorded checksum."""
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        return True
    recorded = next((each for each in files if each.name == path.name and each.locate() == path), None)
    if recorded is None or recorded.hash is None or recorded.hash.mode != "sha256":
        return True
    return recorded.hash.value == base64.urlsafe_b64encode(bytes.fromhex(sha256(path))).decode().rstrip("=")


def require_as_installed(path: Path, package: str) -> Path:
    """Return `path`. Raises ModelUnavailable when it has changed since `package` was installed."""
    if not is_as_installed(path, package):
        raise ModelUnavailable(f"The file {path.name} has changed since the package {package} installed it", fix=FIX)
    return path


def _read_checksums(folder: Path) -> dict[Path, str]:
    """Return the checksum of each file in SHA256SUMS, by path."""
    lines = (folder / CHECKSUMS_FILE).read_text(encoding="utf-8").splitlines()
    return {folder / name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def sha256(path: Path) -> str:
    """Return the SHA-256 in hexadecimal, cached until the file's size or modification time changes."""
    stat = path.stat()
    return _sha256(path, stat.st_size, stat.st_mtime_ns)


@cache
def _sha256(path: Path, _size: int, _modified_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_safetensors(path: Path, fix: str) -> Path:
    """Return `path` if it is a safetensors file of full length with a tensor. Raises ModelUnavailable otherwise."""
    from safetensors import SafetensorError, safe_open

    _require_file(path, fix)
    try:
        with safe_open(path, "numpy") as weights:
            if weights.keys():
                return path
    except (SafetensorError, OSError) as error:
        raise ModelUnavailable(f"The file {path} is damaged or cut off", fix) from error
    raise ModelUnavailable(f"The file {path} contains no weights", fix)


def require_gguf(path: Path, fix: str) -> Path:
    """Return `path` if it is a GGUF file of full length with a tensor. Raises ModelUnavailable otherwise."""
    from gguf import GGUFReader

    _require_file(path, fix)
    try:
        if GGUFReader(path).tensors:
            return path
    except Exception as error:  # numpy raises many types for a truncated header
        raise ModelUnavailable(f"The file {path} is cut off or no GGUF file", fix) from error
    raise ModelUnavailable(f"The file {path} contains no weights", fix)


def _require_file(path: Path, fix: str) -> None:
    if not path.is_file():
        raise ModelUnavailable(f"The file {path} is missing", fix)
