"""Access to the application's services in a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import current_app, g

if TYPE_CHECKING:
    from app.capabilities.options import Capabilities
    from app.components import Component
    from app.config.settings import Settings
    from app.container import AppContainer
    from app.runs.call_log import CallLog
    from app.runs.service import Runs
    from app.web.sse import Followers


@dataclass(frozen=True)
class AppServices:
    """The services of an application, stored as `app.extensions["hopcheck"]`."""

    settings: Settings
    container: AppContainer
    runs: Runs
    followers: Followers
    calls: CallLog

    def components(self) -> tuple[Component, ...]:
        """Return the models and indexes of this process and their state; none where workers execute the runs."""
        return () if self.settings.redis_url else self.container.components()


def services() -> AppServices:
    """Return the current application's services."""
    return current_app.extensions["hopcheck"]


def capabilities() -> Capabilities:
    """Return the options for a run, computed once per request."""
    if "capabilities" not in g:
        g.capabilities = services().container.capabilities()
    return g.capabilities
