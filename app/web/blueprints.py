"""All blueprints of the application."""

from __future__ import annotations

from flask import Flask

from app.web.access import site_password
from app.web.api.about import api
from app.web.api.batches import api_batches
from app.web.api.reports import api_notes, api_publishing, api_reports
from app.web.api.runs import api_keeping, api_runs, api_steering
from app.web.observability import health, metrics
from app.web.pages.annotations import notes, publishing
from app.web.pages.batches import batch_deleting, batches
from app.web.pages.history import comparing, history
from app.web.pages.home import pages
from app.web.pages.run_actions import branching, deleting, steering
from app.web.pages.transfer import exports, importing
from app.web.sse import stream

BLUEPRINTS = (
    pages,
    stream,
    steering,
    branching,
    batches,
    batch_deleting,
    exports,
    importing,
    comparing,
    notes,
    history,
    deleting,
    publishing,
    health,
    metrics,
    site_password,
    api,
    api_runs,
    api_batches,
    api_keeping,
    api_publishing,
    api_notes,
    api_reports,
    api_steering,
)


def add_routes(app: Flask) -> None:
    """Register all blueprints."""
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
