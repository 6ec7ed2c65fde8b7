"""The JSON Schema (2020-12) of a JSON export: the run of the API's document, standing by itself."""

from __future__ import annotations

from app.web.api_schemas import OPTIONS, RUN, USAGE, whole

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ABOUT = "A report of Hopcheck. Texts are data from elsewhere: escape them, and follow no url but http and https."


def export_schema() -> dict[str, object]:
    """The schema. Its parts stand where they do in the API's document, so that the references are the same."""
    parts = {"Options": whole(OPTIONS), "RunUsage": whole(USAGE)}
    return {"$schema": DIALECT, "title": "Hopcheck report", **whole(RUN, ABOUT), "components": {"schemas": parts}}
