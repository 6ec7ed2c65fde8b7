"""Check the claims of a data set in whole runs, without the data set's own evidence.

The answerer `web-search` can search the sentences that the file gives for each claim instead of the web (gold.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from app.domain.errors import CallFailed, HopcheckError, InvalidInput
from app.domain.events import Event, RunStarted, TokensUsed
from app.domain.instrumentation import MemoryStore, listening, use_stores
from app.domain.messages import DAY_LIMITS, code_of
from app.domain.model import Claim, Hop, HopStatus, Origin, RunOptions
from app.domain.ports import QuestionAnswerer, RunCommand, Strategy
from app.domain.report import Report, reduce_events
from app.modules.answerers import retriever_reader, web_search
from app.modules.answerers.web_search import WebSearchAnswerer
from app.modules.judging import quoted_sentence
from app.modules.local import LocalClaimVerifier, LocalReasoner
from app.strategies.evidence_pursuit import EvidencePursuit
from app.strategies.question_guided import QuestionGuided
from app.text.claims import clean_date, clean_speaker, today
from research.evaluation.datasets import Row
from research.evaluation.gold import GivenSentences
from research.evaluation.harness import RowPredictor, RowResult
from research.evaluation.metering import Metering
from research.evaluation.predictions import EvidencePair, ResourceUse

RETRIEVING_ANSWERERS = (retriever_reader.NAME, web_search.NAME)
"""Answerers that retrieve passages; the others answer from a model's memory."""
YES_NO = ("yes", "no")


GOES_ON = "The same command goes on when the site opens again, at midnight UTC."


class LimitReached(HopcheckError):
    """The site's daily limit is reached, so that no more rows can run."""


def uses_judge(strategy: Strategy) -> bool:
    """Return whether runs of this strategy use the local judge."""
    parts = (getattr(strategy, "reasoner", None), getattr(strategy, "verifier", None))
    return any(isinstance(part, LocalReasoner | LocalClaimVerifier) for part in parts)


def run_predictor(
    strategy: Strategy,
    options: RunOptions,
    given: Mapping[str, GivenSentences] | None = None,
    metering: Metering | None = None,
) -> RowPredictor:
    """Return a predictor that runs the strategy on each row; a run without a verdict gives no label and a problem.

    `given` maps row ids to search results; other rows find nothing. `metering` applies the site's daily limits. The
    predictor raises LimitReached when they are reached, and CallFailed for an invalid speaker or date. Results have no
    probability of SUPPORTED, which a verdict lacks.
    """

    def predict(row: Row) -> RowResult:
        row_strategy = strategy if given is None else _with_given_search(strategy, given, row)
        report = run_to_report(row_strategy, claim_of(row), options, metering)
        return RowResult(
            report.verdict.label if report.verdict else None,
            report.verdict.confidence if report.verdict else None,
            problem=None if report.verdict else str(report.problem),
            evidence=tuple(evidence_pair(hop) for hop in report.context),
            pages=retrieved_titles(report.hops) if options.answerer in RETRIEVING_ANSWERERS else None,
            troubles=(
                *map(str, report.failures),
                *(str(hop.reason) for hop in report.hops if hop.status is HopStatus.FAILED),
            ),
            spent=resource_use(report),
            rationale=" ".join(str(each.text) for each in report.verdict.rationale) if report.verdict else "",
        )

    return predict


def answerer_for(
    strategy: Strategy, given: Mapping[str, GivenSentences] | None = None
) -> Callable[[Row], QuestionAnswerer]:
    """Return a function from a row to the strategy's answerer. Raises InvalidInput at once if it has none."""
    if not isinstance(strategy, EvidencePursuit | QuestionGuided):
        raise InvalidInput("This strategy asks no question, so nothing is retrieved in it.", "strategy")
    if given is None:
        return lambda row: strategy.answerer
    return lambda row: _with_given_search(strategy, given, row).answerer


def claim_of(row: Row) -> Claim:
    """Return the row's claim with speaker and date. Raises CallFailed for an invalid speaker or date."""
    try:
        return Claim(row.claim, clean_speaker(row.speaker), clean_date(row.date, today()))
    except InvalidInput as error:
        raise CallFailed(str(error)) from error


def evidence_pair(hop: Hop) -> EvidencePair:
    """Return a kept hop as a pair of the shared task; the cited sentence is added to a bare yes or no."""
    answer = hop.answer.text if hop.answer and hop.answer.text else ""
    cited = hop.answer.cited if hop.answer else None
    if cited is None:
        return EvidencePair(hop.question.text, answer)
    if answer.strip(" .").lower() in YES_NO:
        answer = f"{answer.strip(' .')}. {quoted_sentence(cited)}"
    return EvidencePair(hop.question.text, answer, cited.passage.url or "", cited.passage.text)


def retrieved_titles(hops: Iterable[Hop]) -> tuple[str, ...]:
    """Return the titles of all retrieved passages in order, without duplicates."""
    retrieved = (passage for hop in hops if hop.answer for passage in hop.answer.retrieved)
    return tuple(dict.fromkeys(passage.title for passage in retrieved))


def resource_use(report: Report) -> ResourceUse:
    """Return the model use of a run; harness.py adds the seconds."""
    used = report.usage
    return ResourceUse(0.0, used.calls, used.prompt_tokens, used.completion_tokens, used.cost)


def run_to_report(strategy: Strategy, claim: Claim, options: RunOptions, metering: Metering | None = None) -> Report:
    """Run the strategy over the claim and return its report with usage.

    Raises LimitReached when a daily limit is reached before the run, or cuts it short.
    """
    events: list[Event] = [RunStarted(claim, options)]
    budget = metering.budget() if metering else None
    if budget and budget.command() is not RunCommand.CONTINUE:
        raise LimitReached(f"{budget.reason()} {GOES_ON}")

    def listen(event: Event) -> None:
        events.append(event)
        if metering and budget and isinstance(event, TokensUsed):
            metering.count(budget, event.usage)

    with listening(listen), use_stores(MemoryStore()):
        for event in strategy.run(claim, options, control=budget):
            events.append(event)  # `listen` appends the modules' events in between
    report = reduce_events((event, 0.0) for event in events)
    if code_of(report.stopped_because) in DAY_LIMITS:
        raise LimitReached(f"{report.stopped_because} {GOES_ON}")
    return report


def _with_given_search(
    strategy: Strategy, given: Mapping[str, GivenSentences], row: Row
) -> EvidencePursuit | QuestionGuided:
    """Return the strategy with the row's given sentences as its search. Raises InvalidInput if it cannot search."""
    answerer = getattr(strategy, "answerer", None)
    if not isinstance(strategy, EvidencePursuit | QuestionGuided) or not isinstance(answerer, WebSearchAnswerer):
        raise InvalidInput("Given sentences are for runs whose answerer is web-search.", "search")
    sentences = given.get(row.id, GivenSentences(()))
    settings = replace(answerer.settings, long_document=False)  # there are no pages to open
    searching = replace(answerer, search=sentences, pages=sentences, settings=settings, origin=Origin.WEB)
    return replace(strategy, answerer=searching)
