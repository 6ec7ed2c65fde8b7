"""Decisions among known options: yes or no, and the label. They go through `choose`, which never guesses."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.model import Judgement, Label
from app.domain.ports import TextGenerator
from app.modules.parsing import LABEL_WORDS

YES, NO = "Yes", "No"

_ASK = {
    2: "Is this claim true or false?",
    3: "Is this claim true, is it false, or is there not enough evidence to tell?",
    4: "Is this claim true, is it false, is there not enough evidence to tell, or conflicting evidence?",
}
"""By the number of labels to choose from."""


def yes_or_no(model: TextGenerator, prompt: str, if_yes: str, if_no: str) -> Judgement:
    """The model's answer with the reason that goes with it. Raises UnparseableOutput when it gives none."""
    choice = model.choose(prompt, (YES, NO))
    holds = {YES: True, NO: False}[choice.option]
    return Judgement(holds, if_yes if holds else if_no, choice.probability)


def label_question(labels: Sequence[Label]) -> str:
    """How the model is asked for one of these labels (QACheck, Appendix A.4, and its forms for more classes)."""
    return _ASK[len(labels)]


def choose_label(model: TextGenerator, prompt: str, labels: Sequence[Label]) -> tuple[Label, float | None]:
    """One of `labels` and its probability among them, None where the model tells none."""
    words = {LABEL_WORDS[label]: label for label in labels}
    choice = model.choose(prompt, tuple(words))
    return words[choice.option], choice.probability
