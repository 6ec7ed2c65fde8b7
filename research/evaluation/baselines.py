"""Baselines: the most frequent label, the judge with claim or evidence only, and the judge after a single search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.domain.model import Claim, LabelSet, Question
from app.domain.ports import QuestionAnswerer
from research.evaluation.datasets import Row
from research.evaluation.harness import Judge, RowResult
from research.evaluation.labels import MATCHES
from research.evaluation.predictions import EvidencePair

MAJORITY, CLAIM_ONLY, EVIDENCE_ONLY = "majority", "claim-only", "evidence-only"
SINGLE_RETRIEVAL = "single-retrieval"
BASELINES = (MAJORITY, CLAIM_ONLY, EVIDENCE_ONLY, SINGLE_RETRIEVAL)


def majority_judge(rows: Sequence[Row], labels: LabelSet) -> Judge:
    """Return a judge that always gives the label that is right for most of `rows`, which are the measured rows."""
    right = Counter(label for row in rows for label in MATCHES[row.label][labels])
    commonest = max(labels.labels, key=lambda label: right[label])
    return lambda row: RowResult(commonest)


def claim_only_judge(judge: Judge) -> Judge:
    """Return `judge`, which judges by a row's own evidence, without that evidence."""
    return lambda row: judge(replace(row, passages=(), answers=()))


def evidence_only_judge(judge: Judge) -> Judge:
    """Return `judge`, which judges by a row's own evidence, without the claim.

    The questions of question-answer pairs are part of the evidence and often repeat the claim.
    """
    return lambda row: judge(replace(row, claim=""))


def single_retrieval_judge(answerer_for: Callable[[Row], QuestionAnswerer], judge: Judge) -> Judge:
    """Return `judge` over the passages that the answerer retrieves for the claim, instead of the row's own evidence.

    The claim is the question; the answer is ignored.
    """

    def judged(row: Row) -> RowResult:
        found = answerer_for(row).answer(Question(row.claim), Claim(row.claim)).retrieved
        result = judge(replace(row, passages=tuple((each.title, each.text) for each in found), answers=()))
        pairs = (EvidencePair(row.claim, each.text, each.url or "", each.text) for each in found)
        return replace(result, evidence=tuple(pairs), pages=tuple(dict.fromkeys(each.title for each in found)))

    return judged
