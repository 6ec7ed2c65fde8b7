"""API routes that describe the API: its OpenAPI document, the page that shows it, and the options of a run."""

from __future__ import annotations

from flask import Response, jsonify, render_template

from app.config.settings import MAX_HOPS
from app.domain.model import LabelSet
from app.examples import EXAMPLES
from app.runs.export import options_of
from app.runs.json_schema import as_json
from app.web.api.blueprint import API, api_blueprint
from app.web.api.openapi import document
from app.web.api.schemas import Choices, Labels
from app.web.services import capabilities

api = api_blueprint("api")


@api.get("/api")
def browse() -> str:
    """Show the API's document as a page."""
    return render_template("api.html", document=document())


@api.get(f"{API}/openapi.json")
def openapi() -> Response:
    """Return the API's document, OpenAPI 3.1."""
    return jsonify(document())


@api.get(f"{API}/choices")
def choices() -> Response:
    """Return the options and defaults of a run on this site."""
    here = capabilities()
    answer = Choices(
        here.strategies,
        here.presets,
        here.answerers,
        here.models,
        here.corpora,
        here.pursuits,
        here.searches,
        labels=tuple(Labels(each, each.labels) for each in LabelSet),
        most_hops=MAX_HOPS,
        defaults=options_of(here.defaults()),
        samples=tuple(sample.claim for sample in EXAMPLES),
    )
    return jsonify(as_json(answer))
