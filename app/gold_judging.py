"""The local reasoner over gold evidence: the same objects that a run uses, handed the evidence of a data set's row."""

from __future__ import annotations

from app.domain.calls import remembering
from app.domain.model import Claim, Label, LabelSet
from app.domain.ports import EntailmentModel
from app.evaluation.datasets import Row
from app.evaluation.gold import context_of
from app.evaluation.harness import Judge, Judged
from app.evaluation.replies import Replies
from app.modules.evidence import gathered
from app.modules.reasoner import JudgeReasoner
from app.modules.weighing import weigh


def gold_judge(judge: EntailmentModel, sufficient: float, labels: LabelSet) -> Judge:
    """The reasoner over a row's gold evidence, `sufficient` being its bound for a decided label."""
    reasoner = JudgeReasoner(judge, sufficient)

    def judged(row: Row) -> Judged:
        claim, context = Claim(row.claim), context_of(row)
        with remembering(Replies()):  # asked twice, computed once: a verdict does not say p(supported) of every label
            weighed = weigh(judge, claim, context, gathered(claim, context).passages)
            verdict = reasoner.conclude(claim, context, labels.labels)
        return Judged(verdict.label, verdict.confidence, weighed.probabilities[Label.SUPPORTED])

    return judged
