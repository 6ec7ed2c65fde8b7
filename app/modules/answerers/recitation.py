"""Passages that a model recites from memory. They are labelled as such wherever shown, never as a source."""

from __future__ import annotations

from app.domain.model import Answer, Origin, Passage, Span

SOURCE = "from the model's memory, not a source"


def recited(text: str, model: str) -> Passage:
    """Return `text` as a passage recited by the model of this name."""
    return Passage(text, f"{model}'s memory", SOURCE, origin=Origin.RECITED)


def answer_in(passage: Passage, text: str, answerer: str) -> Answer:
    """Return the answer, citing its place in the passage, or the whole passage if it does not occur literally."""
    at = passage.text.casefold().find(text.casefold())
    # Case folding can change the length of a text (ß), which would shift the place found.
    stands = at >= 0 and passage.text[at : at + len(text)].casefold() == text.casefold()
    cited = Span(passage, at, at + len(text)) if stands else Span(passage, 0, len(passage.text))
    return Answer(text, cited, (passage,), answerer)
