"""What the two fine-tuned questioners read; training and inference share it.

Papelo's (Malon, 2024, arXiv 2411.05762, appendix A): one model asks the first question of a claim, the other the next
one after the questions and answers so far. Both read their input after the word "question".
"""

from __future__ import annotations

from collections.abc import Sequence

PREFIX = "question: "


def first_question_input(claim: str) -> str:
    """The input of the model that asks first."""
    return PREFIX + claim


def next_question_input(claim: str, pairs: Sequence[tuple[str, str]]) -> str:
    """The input of the model that asks next, after these (question, answer) pairs, oldest first."""
    told = " ".join(f"Question: {question} Answer: {answer}" for question, answer in pairs)
    return f"{PREFIX}Claim: {claim} {told}".rstrip()
