"""The JSON API's account of itself: its document, for programs and as a page, and what a run can be made of here.

docs/api.md tells of the API; openapi/ describes every answer. The other routes stand by topic: runs.py, steering.py,
keeping.py, publishing.py, notes.py, reports.py and batches.py.
"""

from __future__ import annotations

from dataclasses import asdict

from flask import Response, jsonify, render_template

from app.config.settings import MOST_HOPS
from app.domain.model import LabelSet
from app.examples import SAMPLES
from app.runs.export import options_of
from app.runs.json_schema import as_json
from app.web.api.blueprint import api_blueprint
from app.web.api.openapi.document import document
from app.web.api.problems import API
from app.web.api.schemas.site import GROUPS
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
    return jsonify(
        **{name: [asdict(each) for each in getattr(here, name)] for name in GROUPS},
        labels=[{"name": each.value, "labels": list(each.labels)} for each in LabelSet],
        most_hops=MOST_HOPS,
        defaults=as_json(options_of(here.defaults())),
        samples=[sample.claim for sample in SAMPLES],
    )
