"""Whole runs for measuring: each claim of a data set is checked as a person's would be, its own evidence unseen.

Where a data set brings what a search had found for each claim (AVeriTeC's web sentences), web-search is handed that in
the place of a search engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.claims import clean_date, clean_speaker, today
from app.evaluation.datasets import Row
from app.evaluation.given_sentences import GivenSentences
from app.evaluation.harness import Judge, Judged
from app.modules.answering.web_search import WebSearchAnswerer
from app.reasoning.errors import CallFailed, InvalidInput
from app.reasoning.events import RunStarted
from app.reasoning.evidence_pursuit import EvidencePursuit
from app.reasoning.question_guided import QuestionGuided
from app.reasoning.report import fold
from app.reasoning.roles import Strategy
from app.reasoning.types import Claim, Origin, RunOptions


def run_judge(strategy: Strategy, options: RunOptions, given: Mapping[str, GivenSentences] | None = None) -> Judge:
    """The verdict of a run with these options. A run that ends without one raises CallFailed, saying why.

    Who made a claim, and when, goes into the run as far as the row tells: a search then finds nothing later. A row
    whose speaker or date cannot be read is a failed call.

    `given` has by a row's id what its searches find; a row that is not in it finds nothing.

    A verdict says how likely its own label is and not how likely SUPPORTED, so there is no area under a curve.
    """

    def judged(row: Row) -> Judged:
        claim = _claim(row)
        used = strategy if given is None else _searching(strategy, given.get(row.id, GivenSentences(())))
        report = fold((event, 0.0) for event in (RunStarted(claim, options), *used.run(claim, options)))
        if report.verdict is None:
            raise CallFailed(report.problem)
        return Judged(report.verdict.label, report.verdict.confidence)

    return judged


def _claim(row: Row) -> Claim:
    try:
        return Claim(row.claim, clean_speaker(row.speaker), clean_date(row.date, today()))
    except InvalidInput as error:
        raise CallFailed(str(error)) from error


def _searching(strategy: Strategy, given: GivenSentences) -> Strategy:
    """The strategy with `given` for its search engine. Raises InvalidInput when it searches nothing."""
    answerer = getattr(strategy, "answerer", None)
    if not isinstance(strategy, EvidencePursuit | QuestionGuided) or not isinstance(answerer, WebSearchAnswerer):
        raise InvalidInput("Given sentences are for runs whose answerer is web-search.", "search")
    return replace(strategy, answerer=replace(answerer, search=given, pages=given, origin=Origin.WEB))
