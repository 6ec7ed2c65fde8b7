"""Use evidence that a file has: web sentences (`web`) as search results, and gold evidence as a context to judge.

The web sentences are the same for every query; they have no page, title or date, so long documents, metadata and dates
cannot be evaluated with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.domain.errors import CallFailed, InvalidInput
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
from app.modules.local import LocalJudge, LocalReasoner
from research.evaluation.datasets import Row, read_objects
from research.evaluation.harness import RowPredictor, RowResult

GIVEN_SENTENCES = "given sentences"


class GivenSentences:
    """Implements `WebSearch` and `PageReader` for one claim, without network. Every query has the same results."""

    name = GIVEN_SENTENCES
    destination: str | None = None

    def __init__(self, sentences: Sequence[tuple[str, str]]) -> None:
        """`sentences` are (sentence, URL) pairs, best first; a URL may be empty."""
        self._hits = tuple(SearchHit("", _host(url), sentence, url) for sentence, url in sentences)

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        """Return the first `k` sentences. They have no date, so `before` has no effect."""
        return self._hits[: max(k, 0)]

    def read(self, hit: SearchHit) -> Page:
        """Raise CallFailed: only a sentence of the page is given."""
        raise CallFailed("Only a sentence of this page was given.")


def read_given_sentences(path: Path) -> dict[str, GivenSentences]:
    """Return the sentences of each row of a file by row id, from its field `web`, a list of {sentence, url}.

    Rows without sentences are left out. Raises InvalidInput with the first invalid line, or if no row has sentences.
    """
    rows = read_objects(path, _parse_row, field="file", empty="there is nothing to search")
    given = {name: GivenSentences(pairs) for name, pairs in rows if pairs}
    if not given:
        raise InvalidInput(f"{path.name} has no sentences to search: none of its rows has the field `web`.", "file")
    return given


def _parse_row(row: dict[str, Any], number: int) -> tuple[str, list[tuple[str, str]]]:
    try:
        pairs = [_parse_sentence(each) for each in row.get("web") or ()]
        return str(row.get("id", number - 1)), pairs  # the position of a released row is its id (official.py)
    except (KeyError, TypeError, AttributeError):
        raise ValueError("no list of {sentence, url} as its web") from None


def _parse_sentence(each: dict[str, Any]) -> tuple[str, str]:
    sentence, url = each["sentence"], each.get("url") or ""
    if not isinstance(sentence, str) or not isinstance(url, str):
        raise TypeError("a sentence or an address that is no text")
    return sentence, url


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


SOURCE = "the data set's gold evidence"


def gold_context(row: Row) -> Context:
    """Return a row's gold evidence as kept hops, numbered from 1. A question without an answer gives no hop.

    A passage becomes a hop with an empty question and answer that cites it, so that the judge reads only the passage.
    """
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


def gold_predictor(judge: LocalJudge, labels: LabelSet) -> RowPredictor:
    """Return a predictor: a run's local reasoner over a row's gold evidence."""
    reasoner = LocalReasoner(judge)

    def predict(row: Row) -> RowResult:
        claim, context = Claim(row.claim), gold_context(row)
        with use_stores(MemoryStore()):  # caches the judge's readings, which `conclude` computes again
            probabilities = judge.probabilities(claim, context)
            verdict = reasoner.conclude(claim, context, labels.labels)
        return RowResult(verdict.label, verdict.confidence, probabilities[Label.SUPPORTED])

    return predict
