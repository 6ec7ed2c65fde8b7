"""What this application is made of, for whoever serves a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import current_app, g

if TYPE_CHECKING:
    from app.capabilities import Capabilities
    from app.parts import Part
    from app.runs.call_log import CallLog
    from app.runs.service import Runs
    from app.settings import Settings
    from app.web.sse import Followers


@dataclass(frozen=True)
class Hopcheck:
    """Kept as `app.extensions["hopcheck"]`. `wiring` is an app.wiring.Wiring or, in tests, something shaped like it."""

    settings: Settings
    wiring: Any
    runs: Runs
    followers: Followers
    calls: CallLog

    def parts(self) -> tuple[Part, ...]:
        """How the heavy parts of this process stand; none where workers carry the runs out."""
        return () if self.settings.redis_url else self.wiring.parts()


def hopcheck() -> Hopcheck:
    """The current application's parts."""
    return current_app.extensions["hopcheck"]


def capabilities() -> Capabilities:
    """What can be chosen for a run, read once a request."""
    if "capabilities" not in g:
        g.capabilities = hopcheck().wiring.capabilities()
    return g.capabilities
