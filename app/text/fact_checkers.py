"""Recognise fact-checking pages by their address, since they contain a verdict on the claim.

fact_checkers.json lists fact-checking sites, sections of other sites, and common names of such sections, which also
begin the addresses of single pages: "fact-check-no-ship-sank", "uk-factcheck-ships". It is incomplete.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import unquote, urlsplit

_ARCHIVED = re.compile(
    r"^https?://(?:(?:web\.)?archive\.org/web/[^/]+/|archive\.(?:today|ph|is|li|vn|fo|md)/(?:[\d.-]+/)?)(?=.)",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def is_fact_check(url: str | None) -> bool:
    """Return whether the address, or that of an archived page, is of a known fact-checker or section."""
    host, path = _host_and_path(_ARCHIVED.sub("", url or ""))
    if not host:
        return False
    known = _known()
    labels = host.split(".")
    sites = [".".join(labels[at:]) for at in range(len(labels) - 1)]
    if any(site in known["sites"] for site in sites) or not known["names"].isdisjoint(labels[:-1]):
        return True
    sections = (section for site in sites for section in known["sections"].get(site, ()))
    return any(f"{path}/".startswith(f"/{section}/") for section in sections) or any(
        known["part"].match(part) for part in path.split("/")
    )


def _host_and_path(url: str) -> tuple[str, str]:
    """Return host and path in lower case, without port and trailing dot; empty for an invalid `url`."""
    try:
        parts = urlsplit(url.strip() if _SCHEME.match(url.strip()) else f"https://{url.strip()}")
        return (parts.hostname or "").rstrip("."), unquote(parts.path).casefold().rstrip("/")
    except ValueError:
        return "", ""


@lru_cache(maxsize=1)
def _known() -> dict[str, Any]:
    """Return `sites` as a set, `sections` as {site: [path, ...]}, `names` as a set, `part` as a pattern of them."""
    found = json.loads((files("app.text") / "fact_checkers.json").read_text(encoding="utf-8"))
    part = re.compile(rf"(?:[a-z\d]{{2,3}}[-_])?(?:{'|'.join(map(re.escape, found['names']))})(?:[-_.:]|\Z)")
    return {"sites": set(found["sites"]), "sections": found["sections"], "names": set(found["names"]), "part": part}
