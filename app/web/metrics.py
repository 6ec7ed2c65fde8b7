"""/metrics for Prometheus. Only who shows METRICS_TOKEN may read it; without that setting there is no such page."""

from __future__ import annotations

from hmac import compare_digest

from flask import Blueprint, Response, abort, current_app

from app.web.api.tokens import bearer
from app.web.audit import refused
from app.web.current import hopcheck

metrics = Blueprint("metrics", __name__)


@metrics.get("/metrics")
def scrape() -> Response:
    """What this process has measured, and what the database holds."""
    expected = hopcheck().settings.metrics_token or abort(404)
    if not compare_digest(bearer().encode(), expected.encode()):
        refused("token")
        abort(404)
    text = current_app.extensions["hopcheck.metrics"].text()
    return Response(text, mimetype="text/plain", headers={"Cache-Control": "no-store"})
