"""What a model says from memory, as a passage that is called so wherever it is shown: it is never a source."""

from __future__ import annotations

from app.domain.model import Answer, Origin, Passage, Span

SOURCE = "from the model's memory, not a source"


def recited(text: str, model: str) -> Passage:
    """A passage that the model of this name recited."""
    return Passage(text, f"{model}'s memory", SOURCE, origin=Origin.RECITED)


def answer_in(passage: Passage, text: str, answerer: str) -> Answer:
    """The answer, citing where it stands in the passage; the whole passage where it does not stand there literally."""
    at = passage.text.casefold().find(text.casefold())
    # Folding can change a text's length (ß), so that the place found would be another one.
    stands = at >= 0 and passage.text[at : at + len(text)].casefold() == text.casefold()
    cited = Span(passage, at, at + len(text)) if stands else Span(passage, 0, len(passage.text))
    return Answer(text, cited, (passage,), answerer)
