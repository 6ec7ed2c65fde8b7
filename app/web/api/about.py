"""The JSON API's account of itself: its document, for programs and as a page, and what a run can be made of here.

docs/api.md tells of the API; openapi/ describes every answer. The other routes stand by topic: runs.py, steering.py,
keeping.py, publishing.py, notes.py, reports.py and batches.py.
"""

from __future__ import annotations

from flask import Response, jsonify, render_template

from app.config.settings import MOST_HOPS
from app.domain.model import LabelSet
from app.examples import SAMPLES
from app.runs.export import options_of
from app.runs.json_schema import as_json
from app.web.api.blueprint import api_blueprint
from app.web.api.openapi import document
from app.web.api.problems import API
from app.web.api.schemas import Choices, Labels
from app.web.current import capabilities

api = api_blueprint("api")


@api.get("/api")
def browse() -> str:
    """The API's document as a page."""
    return render_template("api.html", document=document())


@api.get(f"{API}/openapi.json")
def openapi() -> Response:
    """The API's document, OpenAPI 3.1."""
    return jsonify(document())


@api.get(f"{API}/choices")
def choices() -> Response:
    """What a run can be made of here, and what it is made of when nobody chooses."""
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
        most_hops=MOST_HOPS,
        defaults=options_of(here.defaults()),
        samples=tuple(sample.claim for sample in SAMPLES),
    )
    return jsonify(as_json(answer))
