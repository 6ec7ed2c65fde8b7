"""Whole runs for measuring: each claim of a data set is checked as a person's would be, its own evidence unseen.

Where a data set brings what a search had found for each claim (AVeriTeC's web sentences), web-search is handed that in
the place of a search engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from app.domain.errors import CallFailed, HopcheckError, InvalidInput
from app.domain.events import Event, RunStarted, TokensUsed
from app.domain.instrumentation import MemoryStore, listening, use_stores
from app.domain.model import Claim, Hop, HopStatus, Origin, RunOptions
from app.domain.ports import QuestionAnswerer, RunCommand, Strategy
from app.domain.report import Report, reduce_events
from app.modules.answerers import retriever_reader, web_search
from app.modules.answerers.web_search import WebSearchAnswerer
from app.modules.claim_verifier import JudgeClaimVerifier
from app.modules.judging import quoted_sentence
from app.modules.reasoner import JudgeReasoner
from app.runs.budget import Metering
from app.strategies.evidence_pursuit import EvidencePursuit
from app.strategies.question_guided import QuestionGuided
from app.text.claims import clean_date, clean_speaker, today
from research.evaluation.datasets import Row
from research.evaluation.gold import GivenSentences
from research.evaluation.harness import Judge, Judged
from research.evaluation.predictions import Piece, Spent

SEARCHING = (retriever_reader.NAME, web_search.NAME)
"""Answerers that look at pages; the others answer out of a model's memory."""
BARE = ("yes", "no")
"""Answers that say nothing without what they rest on."""


class LimitReached(HopcheckError):
    """The site's limit of a day is reached, so that no row can be run."""


def uses_judge(strategy: Strategy) -> bool:
    """Whether the judge decides anything in runs of this strategy."""
    parts = (getattr(strategy, "reasoner", None), getattr(strategy, "verifier", None))
    return any(isinstance(part, JudgeReasoner | JudgeClaimVerifier) for part in parts)


def run_judge(
    strategy: Strategy,
    options: RunOptions,
    given: Mapping[str, GivenSentences] | None = None,
    metering: Metering | None = None,
) -> Judge:
    """The verdict of a run with these options. A run that ends without one has no label and says why.

    A run is bound by the limits of `metering` as a visitor's is. Raises LimitReached when none may begin today.

    Who made a claim, and when, goes into the run as far as the row tells: a search then finds nothing later. A row
    whose speaker or date cannot be read is a failed call.

    `given` has by a row's id what its searches find; a row that is not in it finds nothing.

    A verdict says how likely its own label is and not how likely SUPPORTED, so there is no area under a curve.
    """

    def judged(row: Row) -> Judged:
        used = strategy if given is None else _searching(strategy, given.get(row.id, GivenSentences(())))
        report = report_of(used, claim_of(row), options, metering)
        return Judged(
            report.verdict.label if report.verdict else None,
            report.verdict.confidence if report.verdict else None,
            problem=None if report.verdict else report.problem,
            evidence=tuple(piece_of(hop) for hop in report.context),
            pages=pages_of(report.hops) if options.answerer in SEARCHING else None,
            troubles=(*report.failures, *(hop.reason for hop in report.hops if hop.status is HopStatus.FAILED)),
            spent=spent_in(report),
            rationale=" ".join(each.text for each in report.verdict.rationale) if report.verdict else "",
        )

    return judged


def answerer_for(
    strategy: Strategy, given: Mapping[str, GivenSentences] | None = None
) -> Callable[[Row], QuestionAnswerer]:
    """Who answers for a row in runs of this strategy. Raises InvalidInput, then and there, when nobody does."""
    if not isinstance(strategy, EvidencePursuit | QuestionGuided):
        raise InvalidInput("This strategy asks no question, so nothing is retrieved in it.", "strategy")
    if given is None:
        return lambda row: strategy.answerer
    return lambda row: _searching(strategy, given.get(row.id, GivenSentences(()))).answerer


def claim_of(row: Row) -> Claim:
    """The claim as a person would hand it in. Raises CallFailed for a speaker or date that cannot be read."""
    try:
        return Claim(row.claim, clean_speaker(row.speaker), clean_date(row.date, today()))
    except InvalidInput as error:
        raise CallFailed(str(error)) from error


def piece_of(hop: Hop) -> Piece:
    """A kept hop as a pair of the shared task; a bare yes or no is explained by the sentence that it rests on."""
    said = hop.answer.text if hop.answer and hop.answer.text else ""
    cited = hop.answer.cited if hop.answer else None
    if cited is None:
        return Piece(hop.question.text, said)
    if said.strip(" .").lower() in BARE:
        said = f"{said.strip(' .')}. {quoted_sentence(cited)}"
    return Piece(hop.question.text, said, cited.passage.url or "", cited.passage.text)


def pages_of(hops: Iterable[Hop]) -> tuple[str, ...]:
    """The titles of all passages that the hops looked at, each once, in order."""
    looked_at = (passage for hop in hops if hop.answer for passage in hop.answer.retrieved)
    return tuple(dict.fromkeys(passage.title for passage in looked_at))


def spent_in(report: Report) -> Spent:
    """What the run's model calls took; the harness adds the seconds."""
    used = report.usage
    return Spent(0.0, used.calls, used.prompt_tokens, used.completion_tokens, used.cost)


def report_of(strategy: Strategy, claim: Claim, options: RunOptions, metering: Metering | None = None) -> Report:
    """Run the strategy over the claim and return its report, with what the calls used. Raises LimitReached."""
    events: list[Event] = [RunStarted(claim, options)]
    budget = metering.budget() if metering else None
    if budget and budget.command() is not RunCommand.CONTINUE:
        raise LimitReached(f"{budget.reason()} The same command goes on when the site opens again, at midnight UTC.")

    def listen(event: Event) -> None:
        events.append(event)
        if metering and budget and isinstance(event, TokensUsed):
            metering.count(budget, event.usage)

    with listening(listen), use_stores(MemoryStore()):
        for event in strategy.run(claim, options, control=budget):
            events.append(event)  # modules append to it in between
    return reduce_events((event, 0.0) for event in events)


def _searching(strategy: Strategy, given: GivenSentences) -> EvidencePursuit | QuestionGuided:
    """The strategy with `given` for its search engine. Raises InvalidInput when it searches nothing."""
    answerer = getattr(strategy, "answerer", None)
    if not isinstance(strategy, EvidencePursuit | QuestionGuided) or not isinstance(answerer, WebSearchAnswerer):
        raise InvalidInput("Given sentences are for runs whose answerer is web-search.", "search")
    return replace(strategy, answerer=replace(answerer, search=given, pages=given, origin=Origin.WEB))
