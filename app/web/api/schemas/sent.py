"""The JSON Schemas of what programs send."""

from __future__ import annotations

from app.config.settings import MOST_HOPS
from app.domain.model import LabelSet
from app.runs.notes import LONGEST_NOTE
from app.text.claims import LONGEST, LONGEST_DATE, LONGEST_SPEAKER, SHORTEST
from app.web.api.input import HIGHEST_HOP
from app.web.api.schemas.parts import TRUTH, Schema, listed, maybe, sent, text

NEW_RUN = {
    "speaker": text(f"Who made the claim, at most {LONGEST_SPEAKER} characters."),
    "date": text("The day it was made, like 2020-10-31; nothing later is evidence.", maxLength=LONGEST_DATE),
    "strategy": text("How to check; the names are in /choices, as all names below."),
    "preset": text("Mix of modules, or way of pursuing evidence."),
    "answerer": text("Who answers the questions."),
    "search": text("Search engine of the answerer web-search; corpus for the corpora."),
    "model": text("Language model for what prompts one."),
    "labels": text("Labels that the verdict may have.", enum=[*LabelSet, None]),
    "corpora": listed(text(), "Corpora to search."),
    "max_hops": {"type": "integer", "minimum": 1, "maximum": MOST_HOPS, "description": "Questions asked at most."},
    "fresh": {**TRUTH, "description": "Ask everything anew, also what the cache knows."},
    "undated": {**TRUTH, "description": "Whether found pages without a date are evidence for a claim with one."},
    "fact_checks": {**TRUTH, "description": "Whether what fact-checkers wrote is evidence."},
}
"""The fields besides the claim; one that is null counts as left out."""

NEW_BRANCH = {
    "question": text("What to ask in its place; left out, its own question."),
    "leave_out": {**TRUTH, "description": "Ask nothing in its place. Takes no question."},
    "answerer": text("Who answers from there on; left out, the one that answered so far."),
}
"""The fields besides the hop."""


NOTE = {
    "agrees": {**TRUTH, "description": "Whether its writer agrees; left out for no side, and then there is a text."},
    "text": text("Why.", maxLength=LONGEST_NOTE),
}


def sent_schemas() -> dict[str, Schema]:
    """The schemas by name."""
    claim = text(f"What to check, {SHORTEST} to {LONGEST} characters.", minLength=SHORTEST)
    hop = {"type": "integer", "minimum": 1, "maximum": HIGHEST_HOP, "description": "From which hop to go on."}
    return {
        "NewRun": sent({"claim": claim, **_optional(NEW_RUN)}, ("claim",)),
        "NewBranch": sent({"hop": hop, **_optional(NEW_BRANCH)}, ("hop",)),
        "NewNote": sent(_optional(NOTE), ()),
        "Exported": {"type": "object", "description": "A run that has ended, as GET /runs/{run_id} tells it."},
        "Nothing": sent({}, ()),
    }


def _optional(fields: dict[str, Schema]) -> dict[str, Schema]:
    return {name: maybe(schema) for name, schema in fields.items()}
