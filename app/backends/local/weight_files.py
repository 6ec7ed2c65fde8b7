"""Verify model files: by checksums, or by the lengths in the header of a weight file."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from app.config import make
from app.domain.errors import ModelUnavailable

FIX = make("models")
"""The command that reinstalls the packages that contain models, even if pip considers them installed."""
FINGERPRINT_BYTES = 1 << 20
"""Bytes read at each end of a file: enough to distinguish weights without reading gigabytes."""


def fingerprint(*paths: Path) -> str:
    """Return 12 hexadecimal digits that identify files by name, size and both ends. Raises OSError."""
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(FINGERPRINT_BYTES))
            file.seek(max(FINGERPRINT_BYTES, size - FINGERPRINT_BYTES))  # no byte is read twice
            digest.update(file.read())
    return digest.hexdigest()[:12]


def require_as_installed(path: Path, package: str) -> Path:
    """Return `path`. Raises ModelUnavailable if `package` recorded another checksum when it was installed."""
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        return path
    recorded = next((each for each in files if each.name == path.name and each.locate() == path), None)
    if recorded is None or recorded.hash is None or recorded.hash.mode != "sha256":
        return path
    stat = path.stat()
    if recorded.hash.value != _recorded_form(path, stat.st_size, stat.st_mtime_ns):
        raise ModelUnavailable(f"The file {path.name} has changed since the package {package} installed it", fix=FIX)
    return path


@cache  # until the file's size or modification time changes
def _recorded_form(path: Path, _size: int, _modified_ns: int) -> str:
    with path.open("rb") as file:
        return base64.urlsafe_b64encode(hashlib.file_digest(file, "sha256").digest()).decode().rstrip("=")


def require_gguf(path: Path, fix: str) -> Path:
    """Return `path` if it is a GGUF file of full length with a tensor. Raises ModelUnavailable otherwise."""
    from gguf import GGUFReader

    if not path.is_file():
        raise ModelUnavailable(f"The file {path} is missing", fix)
    try:
        if GGUFReader(path).tensors:
            return path
    except Exception as error:  # numpy raises many types for a truncated header
        raise ModelUnavailable(f"The file {path} is cut off or no GGUF file", fix) from error
    raise ModelUnavailable(f"The file {path} contains no weights", fix)
