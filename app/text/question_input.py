"""Input formats of the two fine-tuned questioners (Malon, 2024, arXiv 2411.05762, appendix A).

One model asks the first question of a claim, the other the next one. Training and inference share the formats.
"""

from __future__ import annotations

from collections.abc import Sequence

PREFIX = "question: "


def first_question_input(claim: str) -> str:
    """Return the input for the first question."""
    return PREFIX + claim


def next_question_input(claim: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Return the input for the next question after these (question, answer) pairs, oldest first."""
    history = " ".join(f"Question: {question} Answer: {answer}" for question, answer in pairs)
    return f"{PREFIX}Claim: {claim} {history}".rstrip()
