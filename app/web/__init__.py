"""HTTP front end: HTML pages, server-sent events, the JSON API, and security."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Blueprint, Flask


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
