"""Model text -> value, or UnparseableOutput. It never guesses."""

from __future__ import annotations

import re

from app.reasoning.errors import UnparseableOutput
from app.reasoning.types import Question

MAX_WORDS = 30
"""A longer question is a story about the claim, not one thing to look up."""


def question_from(text: str) -> Question:
    """The one question on the first line of `text`, as it stands there.

    Raises UnparseableOutput when there is none, when there are several, when it is cut off (no question mark), or when
    it has more than MAX_WORDS words.
    """
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = re.sub(r"\s+", " ", line).strip("\"“”' ")
    if not line:
        raise UnparseableOutput("The model wrote no question")
    if line.count("?") != 1 or not line.endswith("?"):
        raise UnparseableOutput("The model did not write exactly one whole question")
    if len(line.split()) > MAX_WORDS:
        raise UnparseableOutput(f"The model's question has more than {MAX_WORDS} words")
    if not any(letter.isalnum() for letter in line):
        raise UnparseableOutput("The model wrote a question mark and no question")
    return Question(line[0].upper() + line[1:])
