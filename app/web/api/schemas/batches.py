"""The JSON Schemas of batches of claims."""

from __future__ import annotations

from app.domain.model import Label
from app.runs.batch_files import MOST_CLAIMS
from app.runs.batches import BatchState
from app.text.claims import LONGEST_DATE
from app.web.api.input import CLAIM_FIELDS
from app.web.api.schemas.parts import COUNT, DAY, MOMENT, SHARE, Schema, listed, maybe, sent, text, whole
from app.web.api.schemas.sent import NEW_RUN

SUMMARY = {
    "id": text(),
    "title": text(),
    "state": text(enum=list(BatchState)),
    "created_at": MOMENT,
}

PROGRESS: dict[str, Schema] = {
    "counts": {
        "type": "object",
        "additionalProperties": COUNT,
        "description": "How many claims stand how: by label, or by their state where there is none.",
    },
    "done": {**COUNT, "description": "Those for which nothing more is done unless somebody asks for it."},
    "total": COUNT,
    "held_up": maybe(text("Why no batch goes on now.")),
}

RESULT = {
    "number": COUNT,
    "claim": text(),
    "speaker": maybe(text()),
    "date": maybe(DAY),
    "label": maybe(text(enum=[*Label, None])),
    "confidence": maybe(SHARE),
    "state": text("That of its run, or waiting, deleted or bad input."),
    "problem": maybe(text("Why there is no verdict.")),
    "permalink": maybe(text("Where its report is read.")),
}


def batch_schemas() -> dict[str, Schema]:
    """The schemas by name."""
    claim = sent({"claim": text(), "speaker": maybe(text()), "date": maybe(text(maxLength=LONGEST_DATE))}, ("claim",))
    claims = listed({"anyOf": [text(), claim]}, "Each as text or as an object.")
    options = {name: maybe(schema) for name, schema in NEW_RUN.items() if name not in CLAIM_FIELDS}
    new = {"claims": {**claims, "minItems": 1, "maxItems": MOST_CLAIMS}, "title": maybe(text()), **options}
    return {
        "NewBatch": sent(new, ("claims",)),
        "Batch": whole({**SUMMARY, **PROGRESS}),
        "BatchList": whole({"batches": listed(whole(SUMMARY))}),
        "BatchResults": whole(
            {
                "results": listed(whole(RESULT)),
                "next": maybe({**COUNT, "description": "What to send as after for those that follow."}),
            }
        ),
    }
