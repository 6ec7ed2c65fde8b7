"""Why something cannot be had and what makes it so, in words that several choices share; the heavy parts by name."""

from __future__ import annotations

from app.capabilities import Choice
from app.parts import Part

NO_MODEL = "No language model is set up.", "OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE"
FETCH_FLAN_T5 = "flask --app app models fetch flan-t5, or FLAN_T5, a folder with the model"
JUDGE, GENERATOR, CORPUS, RERANKER, READER = (
    "judge",
    "question generator",
    "corpus and retriever",
    "reranker",
    "reader",
)
"""The heavy parts of the embedded default."""


def broken(choice: Choice, part: Part) -> Choice:
    """The choice, not to be had for a part of it could not be loaded."""
    return choice.without(f"The {part.name} could not be loaded: {part.message}", part.mend)
