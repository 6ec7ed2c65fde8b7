"""Pages, JSON and the site's files travel compressed, with Brotli where the browser knows it, else with gzip.

A stream of events never does: `text/event-stream` is not in the list, so each message leaves as it is written. A form's
CSRF token is signed anew every second, so that the length of a compressed page cannot be used to guess it (BREACH).
"""

from __future__ import annotations

from flask import Flask
from flask_compress import Compress

KINDS = (
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
WAYS = ("br", "gzip")
"""How, best first."""


def compress(app: Flask) -> None:
    """Compress what this application answers, where it is worth it and the reader can undo it."""
    app.config.update(
        COMPRESS_MIMETYPES=list(KINDS), COMPRESS_ALGORITHM=list(WAYS), COMPRESS_ALGORITHM_STREAMING=list(WAYS)
    )
    Compress(app)
