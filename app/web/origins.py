"""Streams are for this site's own pages and for programs, not for pages of other sites.

Such a page could read none of it, for no header allows that, but each stream that it opened would hold a thread here.
"""

from __future__ import annotations

from flask import abort, request

from app.web.audit import refused

STREAMS = frozenset({"stream.events", "comparing.events", "api_runs.follow"})

FOREIGN = "A page of another site may not follow a check."


def keep_streams_home() -> None:
    """Refuse a stream to a page of another site, as far as its browser says so; to be asked before each request."""
    if request.endpoint in STREAMS and _is_foreign():
        refused("origin")
        abort(403, FOREIGN)


def _is_foreign() -> bool:
    """Browsers say where a request comes from; one that cannot still names the origin of another site's script."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin.rpartition("//")[2] != request.host
