"""R by prompting: the reasons first, the label last (QACheck, section 3.5 and Appendix A.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.model import Claim, Context, Label, Verdict
from app.domain.ports import TextGenerator
from app.domain.progress import entered
from app.modules.output_parsing import LABEL_WORDS, label_from, rationale_from
from app.modules.prompting import (
    Known,
    Quote,
    choose_label,
    few_shot,
    filled,
    kept_evidence,
    known_lines,
    label_question,
    made,
    one_line,
    quoted_texts,
    shown_pairs,
)
from app.modules.prompts import data
from app.modules.reasoner.rationale import missing_from, quotations

MAX_TOKENS = 512
NEXT_CASE = "\nContexts:"
DEMONSTRATIONS = 10


@dataclass(frozen=True)
class PromptedReasoner:
    """Implements `Reasoner` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with the model's reasons, or with quotations of the kept evidence if it gave none.

        The label is read from the last line; if that names none, the model is asked to choose one. Raises
        UnparseableOutput if it chooses none.
        """
        entered("weighing the evidence")
        prompt = reasoning_prompt(claim, context, labels)
        text = self.model.complete(prompt, max_tokens=MAX_TOKENS, stop=(NEXT_CASE,))
        hops = [hop.number for hop in context]
        confidence = None
        try:
            label, reasons = label_from(text, labels)
            rationale, missing = rationale_from(reasons, hops)
        except UnparseableOutput:
            rationale, missing = rationale_from(text, hops)
            told = " ".join(sentence.text for sentence in rationale)
            label, confidence = choose_label(self.model, f"{prompt} {told}\nLabel =", labels)
        if label is not Label.NOT_ENOUGH_EVIDENCE:
            missing = None
        elif missing is None:
            missing = missing_from(claim)
        return Verdict(label, rationale or quotations(context), missing, confidence)


def reasoning_prompt(claim: Claim, context: Context, labels: Sequence[Label]) -> str:
    """Return the demonstrations for these labels and this case, up to the start of the rationale."""
    known = kept_evidence(claim, context)
    by = f"The claim was made{made(claim)}." if made(claim) else ""
    return few_shot(
        _shown(tuple(labels)), lambda quote: _case(claim.text, known, labels, quote, by), quoted_texts(known)
    )


@lru_cache
def _shown(labels: tuple[Label, ...]) -> tuple[str, ...]:
    return tuple(
        f"{_case(each['claim'], shown_pairs(each['known']), labels)} {_conclusion(each)}"
        for each in balanced(data("reasoning"), labels)
    )


def balanced(shown: Iterable[Mapping[str, Any]], labels: Sequence[Label]) -> list[Mapping[str, Any]]:
    """Return DEMONSTRATIONS of `shown`, in order, spread evenly over `labels`; the last label gets the remainder."""
    left = dict.fromkeys(labels, DEMONSTRATIONS // len(labels))
    left[labels[-1]] += DEMONSTRATIONS % len(labels)
    chosen = []
    for each in shown:
        label = Label(each["label"])
        if left.get(label, 0):
            left[label] -= 1
            chosen.append(each)
    return chosen


def _case(claim: str, known: Iterable[Known], labels: Sequence[Label], quote: Quote = str, by: str = "") -> str:
    fields = {"known": known_lines(known, quote), "claim": one_line(claim), "made": by}
    return filled("reasoning", **fields, ask=label_question(labels))


def _conclusion(shown: Mapping[str, Any]) -> str:
    missing = f"\nMissing = {shown['missing']}" if "missing" in shown else ""
    return f"{shown['rationale']}{missing}\nLabel = {LABEL_WORDS[Label(shown['label'])]}"
