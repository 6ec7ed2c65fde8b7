"""R, the reasoner: label and rationale from the kept hops (QACheck, section 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.modules.claim_verifier import untouched
from app.modules.evidence import quoted_sentence
from app.modules.weighing import weigh
from app.modules.wording import names
from app.reasoning.progress import entered
from app.reasoning.roles import EntailmentModel
from app.reasoning.types import Claim, Context, Hop, Label, Sentence, Verdict

_CLOSING = {
    Label.SUPPORTED: "Together this supports the claim.",
    Label.REFUTED: "This does not agree with the claim.",
    Label.NOT_ENOUGH_EVIDENCE: "This does not settle the claim.",
}


@dataclass(frozen=True)
class JudgeReasoner:
    """The likeliest label over the kept evidence; the rationale quotes the sentences that the answers stand in.

    A decided label needs `sufficient` when NOT_ENOUGH_EVIDENCE is allowed: an unsure weighing does not decide.
    """

    judge: EntailmentModel
    sufficient: float

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """One of `labels`, with its probability among them."""
        entered("weighing the evidence")
        weighed = weigh(self.judge, claim, context)
        label, confidence = self._label(weighed.probabilities, labels)
        compared = (Sentence(finding.told, finding.hops) for finding in weighed.findings)
        closing = Sentence(_CLOSING[label], tuple(hop.number for hop in context))
        rationale = (*(_quotation(hop) for hop in context), *compared, closing)
        missing = _missing(claim, context) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, rationale, missing, confidence)

    def _label(self, probabilities: dict[Label, float], labels: Sequence[Label]) -> tuple[Label, float]:
        total = sum(probabilities[label] for label in labels)
        likely = max(labels, key=lambda label: probabilities[label])
        confidence = probabilities[likely] / total if total else 1 / len(labels)
        if (
            likely is not Label.NOT_ENOUGH_EVIDENCE
            and Label.NOT_ENOUGH_EVIDENCE in labels
            and confidence < self.sufficient
        ):
            return Label.NOT_ENOUGH_EVIDENCE, 1 - confidence
        return likely, confidence


def _quotation(hop: Hop) -> Sentence:
    answer = hop.answer
    if answer is None or answer.cited is None:
        return Sentence(f"{hop.question.text} {answer.text if answer else ''}".strip(), (hop.number,))
    return Sentence(f"{answer.cited.passage.title}: “{quoted_sentence(answer.cited)}”", (hop.number,))


def _missing(claim: Claim, context: Context) -> str:
    gaps = untouched(claim, context)
    if gaps:
        return f"No evidence was found that mentions {' or '.join(gaps)}."
    named = names(claim.text)
    about = f" about {' and '.join(named)}" if named else ""
    return f"The evidence kept{about} does not say whether the claim holds."
