"""HTTP front end: HTML pages, server-sent events, the JSON API, and security; access to the services in a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import current_app, g

from app.capabilities.options import Choice, default_corpora
from app.components import Component

if TYPE_CHECKING:
    from flask import Blueprint, Flask

    from app.capabilities.options import Capabilities
    from app.config.settings import Settings
    from app.container import AppContainer
    from app.runs.call_log import CallLog
    from app.runs.service import Runs
    from app.web.sse import Followers


CORPUS_GONE = "There is no corpus of that name on this machine.", "flask --app app corpus list, and CORPORA"


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
        searched = (
            choices.get(name, Choice(name, name).unavailable(*CORPUS_GONE)) for name in default_corpora(self.settings)
        )
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


def add_routes(app: Flask) -> None:
    """Register all blueprints."""
    for blueprint in (*_pages(), *_api()):
        app.register_blueprint(blueprint)


def _pages() -> tuple[Blueprint, ...]:
    from app.web.access import site_password
    from app.web.observability import health, metrics
    from app.web.pages.annotations import notes, publishing
    from app.web.pages.batches import batch_deleting, batches
    from app.web.pages.history import comparing, history
    from app.web.pages.home import pages
    from app.web.pages.run_actions import branching, deleting, steering
    from app.web.pages.transfer import exports, importing
    from app.web.sse import stream

    return (
        site_password,
        health,
        metrics,
        notes,
        publishing,
        batch_deleting,
        batches,
        comparing,
        history,
        pages,
        branching,
        deleting,
        steering,
        exports,
        importing,
        stream,
    )


def _api() -> tuple[Blueprint, ...]:
    from app.web.api.about import api
    from app.web.api.batches import api_batches
    from app.web.api.reports import api_notes, api_publishing, api_reports
    from app.web.api.runs import api_keeping, api_runs, api_steering

    return (api, api_batches, api_notes, api_publishing, api_reports, api_keeping, api_runs, api_steering)
