"""What a strategy has to beat: the commonest label, the judge over half of a row, and over what one search brings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.domain.model import Claim, LabelSet, Question
from app.domain.ports import QuestionAnswerer
from research.evaluation.datasets import Row
from research.evaluation.harness import Judge, Judged
from research.evaluation.labels import MATCHES
from research.evaluation.predictions import Piece

MAJORITY, CLAIM_ONLY, EVIDENCE_ONLY = "majority", "claim-only", "evidence-only"
SINGLE_RETRIEVAL = "single-retrieval"
BASELINES = (MAJORITY, CLAIM_ONLY, EVIDENCE_ONLY, SINGLE_RETRIEVAL)


def majority_judge(rows: Sequence[Row], labels: LabelSet) -> Judge:
    """Always the label that is right for most of `rows`, which are those that are measured: it has seen them."""
    right = Counter(label for row in rows for label in MATCHES[row.label][labels])
    commonest = max(labels.labels, key=lambda label: right[label])
    return lambda row: Judged(commonest)


def claim_only_judge(judge: Judge) -> Judge:
    """`judge`, which goes by a row's own evidence, without any."""
    return lambda row: judge(replace(row, passages=(), answers=()))


def evidence_only_judge(judge: Judge) -> Judge:
    """`judge`, which goes by a row's own evidence, without the claim: what the evidence gives away by itself.

    The questions of question-answer pairs are a part of the evidence, and often say what the claim says.
    """
    return lambda row: judge(replace(row, claim=""))


def single_retrieval_judge(answerer_for: Callable[[Row], QuestionAnswerer], judge: Judge) -> Judge:
    """`judge` over what one search for the claim as it stands brings, in the place of the row's own evidence.

    The search is the answerer's: what it looks at for a question is retrieved, and its answer is passed over.
    """

    def judged(row: Row) -> Judged:
        found = answerer_for(row).answer(Question(row.claim), Claim(row.claim)).retrieved
        said = judge(replace(row, passages=tuple((each.title, each.text) for each in found), answers=()))
        pieces = (Piece(row.claim, each.text, each.url or "", each.text) for each in found)
        return replace(said, evidence=tuple(pieces), pages=tuple(dict.fromkeys(each.title for each in found)))

    return judged
