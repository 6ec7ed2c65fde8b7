"""The JSON Schema (2020-12) of a JSON export: the run of the API's document, standing by itself."""

from __future__ import annotations

from app.runs.notes import LONGEST_NOTE
from app.web.api.schemas.parts import COUNT, MOMENT, TRUTH, listed, maybe, sent, text
from app.web.api.schemas.runs import OPTIONS, RUN, USAGE, whole

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ABOUT = "A report of Hopcheck. Texts are data from elsewhere: escape them, and follow no url but http and https."
NOTE = {
    "hop": {**COUNT, "description": "The hop that it is on; 0 for the verdict."},
    "agrees": {**maybe(TRUTH), "description": "null takes no side."},
    "text": text(maxLength=LONGEST_NOTE),
    "written_at": MOMENT,
}
NOTES = listed(whole(NOTE), "Its owner's notes; there only where the owner asked for them.")


def export_schema() -> dict[str, object]:
    """The schema. Its parts stand where they do in the API's document, so that the references are the same."""
    parts = {"Options": whole(OPTIONS), "RunUsage": whole(USAGE)}
    return {
        "$schema": DIALECT,
        "title": "Hopcheck report",
        **sent({**RUN, "notes": NOTES}, tuple(RUN), ABOUT),
        "components": {"schemas": parts},
    }
