"""The JSON Schemas of what is told of the site itself: what can be chosen, whether it is ready, what went wrong."""

from __future__ import annotations

from app.domain.model import LabelSet
from app.web.api.schemas.parts import COUNT, LABEL, TRUTH, Schema, listed, maybe, ref, sent, text, whole

CHOICE = whole(
    {
        "name": text(),
        "title": text(),
        "available": TRUTH,
        "reason": text("Why it cannot be had here."),
        "mend": text("What makes it so that it can."),
        "destination": maybe(text("The host that gets what people write when this is chosen.")),
        "needs_model": TRUTH,
    }
)

GROUPS = ("strategies", "presets", "answerers", "models", "corpora", "pursuits", "searches")

CHOICES = {
    **{name: listed(CHOICE) for name in GROUPS},
    "labels": listed(whole({"name": text(enum=list(LabelSet)), "labels": listed(LABEL)})),
    "most_hops": COUNT,
    "defaults": ref("Options"),
    "samples": listed(text(), "Claims to try."),
}

PART = sent(
    {
        "name": text(),
        "state": text(enum=["ready", "waiting", "loading", "failed"]),
        "message": text("What is wrong with it."),
        "mend": text("What makes it right."),
    },
    ("name", "state"),
)

PROBLEM = {
    "type": "object",
    "properties": {
        "type": text(format="uri-reference"),
        "title": text("The status in words."),
        "status": {"type": "integer"},
        "detail": text("What happened, in a sentence."),
        "field": text("The input that is at fault."),
        "retry_after": {**COUNT, "description": "When to come again, in seconds."},
    },
    "required": ["type", "title", "status", "detail"],
    "description": "Problem details, RFC 9457.",
}


def site_schemas() -> dict[str, Schema]:
    """They, by name."""
    return {
        "Choices": whole(CHOICES),
        "Readiness": whole({"ready": TRUTH, "parts": listed(PART, "The database, the corpora, each model.")}),
        "Problem": PROBLEM,
    }
