"""AVeriTeC's ten web sentences a claim as a search back end: the same ten, whatever is searched for.

They are what somebody else's search brought for the claim as it stands. None has a title, a date or a page behind it,
so long documents, metadata and dates cannot be measured on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.domain.errors import CallFailed
from app.domain.instrumentation import MemoryStore, use_stores
from app.domain.model import (
    Answer,
    Claim,
    Context,
    Hop,
    HopStatus,
    Label,
    LabelSet,
    Page,
    Passage,
    Question,
    SearchHit,
    Span,
)
from app.modules.judging import EvidenceJudge
from app.modules.reasoner import JudgeReasoner
from research.evaluation.datasets import Row, read_jsonl
from research.evaluation.harness import Judge, Judged

NAME = "given sentences"


class GivenSentences:
    """Implements `WebSearch` and `PageReader` for one claim. Nothing leaves the machine."""

    name = NAME
    destination: str | None = None

    def __init__(self, sentences: Sequence[tuple[str, str]]) -> None:
        """`sentences` are (sentence, address) pairs, best first; an address may be empty."""
        self._hits = tuple(SearchHit("", _site(url), sentence, url) for sentence, url in sentences)

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """The first `k`, none of which has a date."""
        return self._hits[: max(k, 0)]

    def read(self, hit: SearchHit) -> Page:
        """Raises CallFailed: the page is not there, whatever stands at its address today."""
        raise CallFailed("Only a sentence of this page was given.")


def given_sentences(path: Path) -> dict[str, GivenSentences]:
    """For each row of the JSONL file by its id the sentences of its `web`, a list of {sentence, url}.

    Rows without any are left out. Raises InvalidInput in one sentence that names the line at fault.
    """
    rows = read_jsonl(path, _sentences, field="file", empty="there is nothing to search")
    return {name: GivenSentences(pairs) for name, pairs in rows if pairs}


def _sentences(row: dict[str, Any], number: int) -> tuple[str, list[tuple[str, str]]]:
    try:
        pairs = [_pair(each) for each in row.get("web") or ()]
        return str(row["id"] if pairs else ""), pairs
    except (KeyError, TypeError, AttributeError):
        raise ValueError("no list of {sentence, url} as its web") from None


def _pair(each: dict[str, Any]) -> tuple[str, str]:
    sentence, url = each["sentence"], each.get("url") or ""
    if not isinstance(sentence, str) or not isinstance(url, str):
        raise TypeError("a sentence or an address that is no text")
    return sentence, url


def _site(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


# Gold evidence as the context of kept hops that a reasoner is handed in a run.
#
# A question-answer pair is a hop as it stands. A passage has no question, and none is made up for it: its hop asks
# nothing and answers nothing, it cites the passage. The judge then reads the passage alone, and no comparison of
# answers has anything to compare.

SOURCE = "the data set's gold evidence"


def context_of(row: Row) -> Context:
    """The kept hops, numbered from 1. A question without an answer brings none, as in a run."""
    answered = [(question, Answer(answer, answerer="gold")) for question, answer in row.answers if answer]
    cited = [
        ("", Answer("", Span(Passage(text, title, SOURCE), 0, 0), answerer="gold"))
        for title, text in row.passages
        if text
    ]
    return tuple(
        Hop(number, Question(question), answer, HopStatus.KEPT, "gold evidence")
        for number, (question, answer) in enumerate([*answered, *cited], 1)
    )


# The local reasoner over gold evidence: the same objects that a run uses, handed the evidence of a data set's row.


def gold_judge(judge: EvidenceJudge, sufficient: float, labels: LabelSet) -> Judge:
    """The reasoner over a row's gold evidence, `sufficient` being its bound for a decided label."""
    reasoner = JudgeReasoner(judge, sufficient)

    def judged(row: Row) -> Judged:
        claim, context = Claim(row.claim), context_of(row)
        with use_stores(MemoryStore()):  # a verdict lacks p(supported) of some labels, so the judge is asked twice
            probabilities = judge.score(claim, context)
            verdict = reasoner.conclude(claim, context, labels.labels)
        return Judged(verdict.label, verdict.confidence, probabilities[Label.SUPPORTED])

    return judged
