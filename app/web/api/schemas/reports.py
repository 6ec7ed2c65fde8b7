"""The JSON Schemas of what is told of reports besides the run itself: notes, the gallery, a comparison."""

from __future__ import annotations

from app.domain.model import Label
from app.web.api.schemas.parts import (
    COUNT,
    LABEL,
    MOMENT,
    SECONDS,
    STATE,
    TRUTH,
    Schema,
    listed,
    maybe,
    ref,
    text,
    whole,
)

COLUMN = {
    "id": text(),
    "state": STATE,
    "label": maybe({**LABEL, "enum": [*Label, None]}),
    "seconds": SECONDS,
    "usage": ref("RunUsage"),
}

ROW = {
    "question": text("In the words of the first run that asked it."),
    "agree": {"type": ["boolean", "null"], "description": "Whether the answers are the same; null for fewer than two."},
    "hops": listed(maybe(COUNT), "For each run the number of the hop that asked it, or null."),
}

PAGE = {
    "title": text(),
    "source": text(),
    "url": maybe(text("As it was found: follow nothing but http and https.")),
    "alike": {**TRUTH, "description": "Whether the runs that cite it share a passage of it."},
    "uses": listed(
        whole({"cited": listed(COUNT), "read": listed(COUNT)}),
        "For each run the hops whose answers cite it, and those that only looked at it.",
    ),
}

NOTE: dict[str, Schema] = {
    "hop": {**COUNT, "description": "The number of a hop, 0 for the verdict or what ended the run instead."},
    "agrees": {"type": ["boolean", "null"]},
    "text": text(),
    "written_at": MOMENT,
}

PUBLISHED: dict[str, Schema] = {"id": text(), "claim": text(), "label": LABEL, "published_at": MOMENT}


def report_schemas() -> dict[str, Schema]:
    """The schemas by name."""
    return {
        "Note": whole(NOTE),
        "NoteList": whole({"notes": listed(ref("Note"), "That on the verdict first, then by hop.")}),
        "Gallery": whole(
            {"reports": listed(whole(PUBLISHED)), "next": maybe(text("The cursor for those that follow."))}
        ),
        "Comparison": whole(
            {
                "runs": listed(whole(COLUMN), "In the order in which they were named."),
                "rows": listed(whole(ROW), "The hops, one row a question."),
                "pages": listed(whole(PAGE), "The pages that a hop cites or looked at, the most cited first."),
            }
        ),
    }
