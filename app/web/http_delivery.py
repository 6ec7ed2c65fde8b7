"""Caching of static files and compression of responses."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask
from flask_compress import Compress

CACHE_SECONDS = 365 * 24 * 3600

COMPRESSED_TYPES = (
    "text/html",
    "text/css",
    "text/javascript",
    "text/markdown",
    "text/plain",
    "application/json",
    "application/ld+json",
    "application/problem+json",
    "image/svg+xml",
)
"""Without text/event-stream, so that each message leaves as it is written.

Pages can be compressed despite BREACH because a form's CSRF token is signed anew every second.
"""

ALGORITHMS = ("br", "gzip")
"""In order of preference."""


def cache_static_files(app: Flask) -> None:
    """Let browsers cache the files of `static/` for a year, each under an address that contains its version."""
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = CACHE_SECONDS

    @app.url_defaults
    def add_version(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static" and "v" not in values and app.static_folder:
            path = Path(app.static_folder) / values["filename"]
            status = path.stat()
            values["v"] = _version(path, status.st_mtime_ns, status.st_size)


@lru_cache
def _version(path: Path, changed_at: int, size: int) -> str:
    """Return eight digits of the file's hash, computed again when time or size changes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def compress(app: Flask) -> None:
    """Compress responses of COMPRESSED_TYPES where the client supports it."""
    app.config.update(
        COMPRESS_MIMETYPES=list(COMPRESSED_TYPES),
        COMPRESS_ALGORITHM=list(ALGORITHMS),
        COMPRESS_ALGORITHM_STREAMING=list(ALGORITHMS),
    )
    Compress(app)
