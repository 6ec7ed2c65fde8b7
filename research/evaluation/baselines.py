"""Baselines: the most frequent label, the judge with claim or evidence only, and the judge after a single search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.domain.model import Claim, LabelSet, Question
from app.domain.ports import QuestionAnswerer
from research.evaluation.datasets import Row
from research.evaluation.harness import RowPredictor, RowResult
from research.evaluation.labels import MATCHES
from research.evaluation.predictions import EvidencePair

MAJORITY, CLAIM_ONLY, EVIDENCE_ONLY = "majority", "claim-only", "evidence-only"
SINGLE_RETRIEVAL = "single-retrieval"
BASELINES = (MAJORITY, CLAIM_ONLY, EVIDENCE_ONLY, SINGLE_RETRIEVAL)


def majority_predictor(rows: Sequence[Row], labels: LabelSet) -> RowPredictor:
    """Return a predictor that always gives the label that is right for most of `rows`, which are the measured rows."""
    right = Counter(label for row in rows for label in MATCHES[row.label][labels])
    commonest = max(labels.labels, key=lambda label: right[label])
    return lambda row: RowResult(commonest)


def claim_only_predictor(evidence_judge: RowPredictor) -> RowPredictor:
    """Return a predictor that calls `evidence_judge` on the row without its evidence."""
    return lambda row: evidence_judge(replace(row, passages=(), answers=()))


def evidence_only_predictor(evidence_judge: RowPredictor) -> RowPredictor:
    """Return a predictor that calls `evidence_judge` on the row without its claim.

    The questions of question-answer pairs are part of the evidence and often repeat the claim.
    """
    return lambda row: evidence_judge(replace(row, claim=""))


def single_retrieval_predictor(
    answerer_for: Callable[[Row], QuestionAnswerer], evidence_judge: RowPredictor
) -> RowPredictor:
    """Return a predictor that calls `evidence_judge` on the row with the passages retrieved for its claim.

    They replace the row's own evidence. The claim is the answerer's question; the answer is ignored.
    """

    def predict(row: Row) -> RowResult:
        found = answerer_for(row).answer(Question(row.claim), Claim(row.claim)).retrieved
        result = evidence_judge(replace(row, passages=tuple((each.title, each.text) for each in found), answers=()))
        pairs = (EvidencePair(row.claim, each.text, each.url or "", each.text) for each in found)
        return replace(result, evidence=tuple(pairs), pages=tuple(dict.fromkeys(each.title for each in found)))

    return predict
