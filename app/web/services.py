"""What this application is made of, for whoever serves a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import current_app, g

if TYPE_CHECKING:
    from app.capabilities.options import Capabilities
    from app.components import Component
    from app.config.settings import Settings
    from app.runs.call_log import CallLog
    from app.runs.service import Runs
    from app.web.sse import Followers


@dataclass(frozen=True)
class AppServices:
    """Kept as `app.extensions["hopcheck"]`. `container` is a Container or, in tests, something of its shape."""

    settings: Settings
    container: Any
    runs: Runs
    followers: Followers
    calls: CallLog

    def components(self) -> tuple[Component, ...]:
        """How the heavy parts of this process stand; none where workers carry the runs out."""
        return () if self.settings.redis_url else self.container.components()


def services() -> AppServices:
    """The current application's parts."""
    return current_app.extensions["hopcheck"]


def capabilities() -> Capabilities:
    """What can be chosen for a run, read once a request."""
    if "capabilities" not in g:
        g.capabilities = services().container.capabilities()
    return g.capabilities
