"""Every group of routes that the application has, in one list."""

from __future__ import annotations

from flask import Flask

from app.web.api.about import api
from app.web.api.batches import api_batches
from app.web.api.keeping import api_keeping
from app.web.api.notes import api_notes
from app.web.api.publishing import api_publishing
from app.web.api.reports import api_reports
from app.web.api.runs import api_runs
from app.web.api.steering import api_steering
from app.web.batch_deleting import batch_deleting
from app.web.batches import batches
from app.web.branching import branching
from app.web.comparing import comparing
from app.web.deleting import deleting
from app.web.exports import exports
from app.web.health import health
from app.web.history import history
from app.web.importing import importing
from app.web.metrics import metrics
from app.web.notes import notes
from app.web.pages import pages
from app.web.publishing import publishing
from app.web.site_password import site_password
from app.web.sse import stream
from app.web.steering import steering

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
    """Register them all."""
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
