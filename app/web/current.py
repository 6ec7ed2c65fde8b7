"""What this application is made of, for whoever serves a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import current_app

from app.web.followers import Followers

if TYPE_CHECKING:
    from app.runs.call_cache import CallCache
    from app.runs.service import Runs
    from app.settings import Settings


@dataclass(frozen=True)
class Hopcheck:
    """Kept as `app.extensions["hopcheck"]`. `wiring` is an app.wiring.Wiring or, in tests, something shaped like it."""

    settings: Settings
    wiring: Any
    runs: Runs
    followers: Followers
    cache: CallCache


def hopcheck() -> Hopcheck:
    """The current application's parts."""
    return current_app.extensions["hopcheck"]
