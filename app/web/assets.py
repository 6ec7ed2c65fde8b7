"""Files that pages need are loaded once: their address changes with what is in them, so browsers may keep them."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask

KEPT_SECONDS = 365 * 24 * 3600


def keep_assets(app: Flask) -> None:
    """Let browsers keep the files of `static/` for a year, each under an address that names its version."""
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = KEPT_SECONDS

    @app.url_defaults
    def name_version(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static" and "v" not in values and app.static_folder:
            path = Path(app.static_folder) / values["filename"]
            status = path.stat()
            values["v"] = _version(path, status.st_mtime_ns, status.st_size)


@lru_cache
def _version(path: Path, changed_at: int, size: int) -> str:
    """Eight digits of what the file holds; read again when it was changed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]
