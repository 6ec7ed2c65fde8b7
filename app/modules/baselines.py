"""The claim-only baselines of QACheck (Table 1) over any language model: direct prompting and chain of thought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Claim, Label, Sentence, Verdict
from app.domain.ports import TextGenerator
from app.modules.output_parsing import LABEL_WORDS
from app.modules.paper_prompts import uncited_rationale
from app.modules.prompted import balanced, verdict_from
from app.modules.prompting import choose_label, demonstrations, few_shot, fill_template, label_question, one_line

DIRECT, CHAIN_OF_THOUGHT = "direct", "chain-of-thought"
MAX_TOKENS = 512


@dataclass(frozen=True)
class DirectClassifier:
    """Implements `ClaimOnlyClassifier`: asks for the label alone."""

    model: TextGenerator

    def verdict_on(self, claim: Claim, labels: Sequence[Label]) -> Verdict:
        """Return the label that the model chooses. Propagates errors of the model."""
        report_phase(Code.ASKING_MODEL(model=self.model.name))
        prompt = fill_template("direct", claim=one_line(claim.text), ask=label_question(labels))
        label, confidence = choose_label(self.model, prompt, labels)
        return _verdict(self.model, label, confidence)


@dataclass(frozen=True)
class ChainOfThoughtClassifier:
    """Implements `ClaimOnlyClassifier`: ten demonstrations that think step by step; the label is in the last line."""

    model: TextGenerator

    def verdict_on(self, claim: Claim, labels: Sequence[Label]) -> Verdict:
        """Return the model's reasoning and final label; ask for a choice unless it names exactly one of `labels`."""
        report_phase(Code.ASKING_STEP_BY_STEP(model=self.model.name))
        case = fill_template("chain_of_thought", claim=one_line(claim.text), ask=label_question(labels))
        prompt = few_shot(_chains_of_thought(tuple(labels)), lambda _: case, ())  # no evidence to quote
        text = self.model.complete(prompt, max_tokens=MAX_TOKENS)
        label, rationale, _, confidence = verdict_from(self.model, text, labels, (), f"{prompt}\n")
        return _verdict(self.model, label, confidence, rationale)


@lru_cache
def _chains_of_thought(labels: tuple[Label, ...]) -> tuple[str, ...]:
    return tuple(
        f"{fill_template('chain_of_thought', claim=each['claim'], ask=label_question(labels))}\n"
        f"{uncited_rationale(each)}\n{LABEL_WORDS[Label(each['label'])]}"
        for each in balanced(demonstrations("reasoning"), labels)
    )


def _verdict(
    model: TextGenerator, label: Label, confidence: float | None, reasons: tuple[Sentence, ...] = ()
) -> Verdict:
    disclosure = Sentence(Code.FROM_MEMORY(model=model.name))
    missing = Code.NO_EVIDENCE() if label is Label.NOT_ENOUGH_EVIDENCE else None
    return Verdict(label, (disclosure, *reasons), missing, confidence)
