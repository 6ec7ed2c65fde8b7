"""The JSON Schemas of a run: what stands in it, what it is made of, its events and the messages that tell of them.

What an event is made of comes from the code of the events themselves (app/runs/event_store.py).
"""

from __future__ import annotations

from app.domain.model import HopStatus, Label, LabelSet, Origin
from app.runs.event_store import event_schema
from app.runs.report_schema import VERSION
from app.web.api.schemas.parts import (
    COUNT,
    DAY,
    LABEL,
    MOMENT,
    REF,
    SECONDS,
    SHARE,
    STATE,
    TRUTH,
    Schema,
    listed,
    maybe,
    ref,
    sent,
    text,
    whole,
)

OPTIONS = {
    **{name: text() for name in ("strategy", "answerer", "preset")},
    "labels": text(enum=list(LabelSet)),
    "max_hops": COUNT,
    "model": maybe(text()),
    "corpora": listed(text()),
    "search": maybe(text()),
    **dict.fromkeys(("fresh", "undated", "fact_checks"), TRUTH),
}

USAGE = {
    "calls": COUNT,
    "prompt_tokens": COUNT,
    "completion_tokens": COUNT,
    "cached": {**COUNT, "description": "Calls that were not made, because their reply was kept."},
    "cost": maybe({"type": "number", "description": "In the currency of the operator's prices."}),
}

EVIDENCE = {
    "title": text(),
    "source": text("Where it is from, with its licence."),
    "url": maybe(text("As it was found: follow nothing but http and https.")),
    "published": maybe(DAY),
    "origin": text("A recited passage comes from a model's memory and is no source.", enum=list(Origin)),
    "fact_check": {**TRUTH, "description": "Whether a known fact-checker published it."},
    "score": {"type": "number", "description": "The retriever's own; compares within one hop only."},
    "text": text(),
    "cited": {**TRUTH, "description": "Whether the answer stands in it."},
    "start": maybe({**COUNT, "description": "Where the answer begins in the text, in Unicode code points."}),
    "end": maybe({**COUNT, "description": "Where it ends."}),
}

HOP = {
    "number": {"type": "integer", "minimum": 1},
    "question": text('"" when none could be asked.'),
    "answer": maybe(text("null while it is sought, and when none was found.")),
    "status": text(enum=list(HopStatus)),
    "reason": text("Why it was kept, set aside, or failed."),
    "from_memory": {**TRUTH, "description": "Whether the answer rests on what a model recited."},
    "answerer": maybe(text()),
    "began": {**SECONDS, "description": "Seconds after the run's start."},
    "seconds": SECONDS,
    "usage": ref("RunUsage"),
    "evidence": listed(whole(EVIDENCE), "Everything that was looked at, best first."),
}

BRANCH = {
    "parent": text("The id of the earlier run."),
    "hop": {"type": "integer", "minimum": 1, "description": "The hops before this one stand."},
    "question": maybe(text("What it asks in place of that hop; null where the hop was left out.")),
}

IMPORTED = {"made_at": {**MOMENT, "description": "When its check began, as the file says, in UTC."}}

RUN = {
    "version": {"const": VERSION, "description": "Of this schema. New fields may come without a new version."},
    "id": text(),
    "created_at": MOMENT,
    "claim": text(),
    "speaker": maybe(text()),
    "date": maybe(DAY),
    "state": STATE,
    "phase": maybe(text("What is being done, while it is running.")),
    "label": maybe({**LABEL, "enum": [*Label, None]}),
    "confidence": maybe(SHARE),
    "rationale": listed(
        whole({"text": text(), "hops": listed(COUNT, "The hops that the sentence rests on."), "from_memory": TRUTH})
    ),
    "missing": maybe(text("What would have been needed.")),
    "problem": maybe(text("Why there is no verdict.")),
    "stopped_because": maybe(text("Why no more questions were asked.")),
    "failures": listed(text(), "What did not work though the run went on."),
    "resumed": {**COUNT, "description": "How often it was cut off and taken up again."},
    "branch": maybe(whole(BRANCH, "Where it goes on from an earlier run.")),
    "imported": maybe(whole(IMPORTED, "Not made here but read from a file: nothing of it is verified.")),
    "seconds": {**SECONDS, "description": "From the start to the last event."},
    "usage": ref("RunUsage"),
    "options": ref("Options"),
    "modules": listed(whole({"role": text(), "implementation": text()})),
    "hops": listed(whole(HOP)),
}

PLACE = whole({"position": {"type": "integer", "minimum": 1}, "seconds": maybe(COUNT)}, "Where a waiting run stands.")

MESSAGE = {
    "event": text("Left out in a message that is a stored event.", enum=["message", "place", "end"]),
    "id": text("The number of a stored event."),
    "data": text("JSON: a StoredEvent, or a Place or null. In the last message nothing that needs reading."),
}

SUMMARY = {
    "id": text(),
    "claim": text(),
    "label": RUN["label"],
    "state": STATE,
    "created_at": MOMENT,
    "imported": TRUTH,
}

NOW = {
    "place": maybe(ref("Place")),
    "concluding": {**TRUTH, "description": "Whether its owner asked for an end."},
    "published_at": maybe({**MOMENT, "description": "Since when it is in the gallery."}),
    "taken_down": {**TRUTH, "description": "Whether the operator keeps it out of the gallery."},
}
"""What is told of a run besides its report."""


def run_schemas() -> dict[str, Schema]:
    """They, by name."""
    event = event_schema(REF)
    parts = event.pop("$defs")
    return {
        **parts,
        "Event": event,
        "StoredEvent": {"allOf": [ref("Event"), {"properties": {"seq": COUNT, "seconds": SECONDS}}]},
        "Message": sent(MESSAGE, ("data",), "A server-sent event."),
        "Options": whole(OPTIONS),
        "RunUsage": whole(USAGE),
        "Place": PLACE,
        "Run": whole({**RUN, **NOW}),
        "RunList": whole({"runs": listed(whole(SUMMARY)), "next": maybe(text("The cursor for the runs that follow."))}),
    }
