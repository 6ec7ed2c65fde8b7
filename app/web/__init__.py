"""HTTP front end: HTML pages, server-sent events, the JSON API, and security; access to the services in a request."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from flask import Blueprint, current_app, g

from app.capabilities.options import Choice, default_corpora
from app.components import CORPUS, Component
from app.config import FLASK
from app.domain.messages import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask

    from app.batches.service import Batches
    from app.capabilities.options import Capabilities
    from app.config.settings import Settings
    from app.container.container import Container
    from app.runs.call_log import CallLog
    from app.runs.service import Runs
    from app.site_setup import SiteSetup
    from app.web.sse import Followers


ROUTES = (
    *("access", "batches", "history", "home", "notes", "observability", "reports", "runs", "setup", "sse"),
    "api.about",
)
"""The modules with routes."""

CORPUS_GONE = Words("There is no corpus of that name on this machine."), f"{FLASK} corpus list, then SOURCE or CORPORA"


@dataclass(frozen=True)
class AppServices:
    """The services of an application, stored as `app.extensions["hopcheck"]`."""

    settings: Settings
    container: Container
    runs: Runs
    batches: Batches
    followers: Followers
    calls: CallLog
    setup: Callable[[], SiteSetup]

    def components(self) -> tuple[Component, ...]:
        """Return the models and indexes of this process and their state; none where workers execute the runs.

        A default corpus that cannot be searched is added as failed, unless the component of all corpora has failed.
        """
        parts = () if self.settings.redis_url else self.container.components()
        if any(part.state == "failed" and part.name == CORPUS for part in parts):
            return parts
        choices = {choice.name: choice for choice in capabilities().corpora}
        searched = (
            choices.get(name, Choice(name, name).unavailable(*CORPUS_GONE)) for name in default_corpora(self.settings)
        )
        lost = (
            Component(Words("corpus {name}", name=each.name), "failed", each.reason, each.mend)
            for each in searched
            if each.reason
        )
        return (*parts, *lost)


def services() -> AppServices:
    return current_app.extensions["hopcheck"]


def capabilities() -> Capabilities:
    """Return the options for a run, computed once per request."""
    if "capabilities" not in g:
        g.capabilities = services().container.capabilities()
    return g.capabilities


def available_sources(besides: str = "") -> tuple[Choice, ...]:
    """Return the sources that can be searched now, without the one of that name."""
    return tuple(each for each in capabilities().sources if each.available and each.name != besides)


def add_routes(app: Flask) -> None:
    for name in ROUTES:
        for each in vars(import_module(f"{__name__}.{name}")).values():
            if isinstance(each, Blueprint) and each.name not in app.blueprints:  # a module may import another's
                app.register_blueprint(each)
