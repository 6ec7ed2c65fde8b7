"""Access to the application's services in a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import current_app, g

from app.capabilities.options import Choice
from app.components import Component

if TYPE_CHECKING:
    from app.capabilities.options import Capabilities
    from app.config.settings import Settings
    from app.container import AppContainer
    from app.runs.call_log import CallLog
    from app.runs.service import Runs
    from app.web.sse import Followers

GONE = "There is no corpus of that name on this machine.", "flask --app app corpus list, and CORPORA"


@dataclass(frozen=True)
class AppServices:
    """The services of an application, stored as `app.extensions["hopcheck"]`."""

    settings: Settings
    container: AppContainer
    runs: Runs
    followers: Followers
    calls: CallLog

    def components(self) -> tuple[Component, ...]:
        """Return the models and indexes of this process and their state; none where workers execute the runs.

        A corpus searched by default that is gone from the disk is added as failed, unless it is among them already.
        """
        parts = () if self.settings.redis_url else self.container.components()
        if any(part.state == "failed" and part.name.startswith("corpus") for part in parts):
            return parts
        choices = {choice.name: choice for choice in self.container.capabilities().corpora}
        searched = (choices.get(name, Choice(name, name).unavailable(*GONE)) for name in self.settings.corpora)
        lost = (Component(f"corpus {each.name}", "failed", each.reason, each.mend) for each in searched if each.reason)
        return (*parts, *lost)


def services() -> AppServices:
    """Return the current application's services."""
    return current_app.extensions["hopcheck"]


def capabilities() -> Capabilities:
    """Return the options for a run, computed once per request."""
    if "capabilities" not in g:
        g.capabilities = services().container.capabilities()
    return g.capabilities
