"""Replace parts of the pipeline by recorded questions, answers and evidence, to measure the errors of each part."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Label, Passage, Question, Span, Verdict
from app.domain.ports import QuestionAnswerer, Reasoner
from app.strategies.question_guided import QuestionGuided
from app.text.sentences import content_words, sentence_spans
from research.claims.data import Asked, VitalClaim
from research.evaluation.answers import f1

QUESTIONS, ANSWERS, SENTENCES = PARTS = ("questions", "answers", "sentences")
MIN_SIMILARITY = 0.5
"""Token F1 between an asked and a recorded question from which they count as the same."""
SOURCE = "recorded with the claim"


def with_gold(strategy: QuestionGuided, row: VitalClaim, parts: Collection[str]) -> QuestionGuided:
    """Return the strategy with `parts` replaced by the recorded ones of this row."""
    if QUESTIONS in parts:
        strategy = replace(strategy, generator=RecordedQuestions(row))
    if ANSWERS in parts:
        strategy = replace(strategy, answerer=RecordedAnswers(strategy.answerer, row))
    if SENTENCES in parts:
        strategy = replace(strategy, reasoner=GoldSentencesReasoner(strategy.reasoner, row))
    return strategy


@dataclass(frozen=True)
class RecordedQuestions:
    """Implements `QuestionGenerator` with the recorded questions in their order."""

    row: VitalClaim

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return the question after those already asked; None after the last."""
        asked = len(context) + len(set_aside)
        return Question(self.row.questions[asked].question) if asked < len(self.row.questions) else None


@dataclass(frozen=True)
class RecordedAnswers:
    """Implements `QuestionAnswerer` with the retrieval of `answerer` and the recorded answer to a similar question.

    A question that is not similar to a recorded one keeps the answer of `answerer`.
    """

    answerer: QuestionAnswerer
    row: VitalClaim

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        """Return the recorded answer, cited in the retrieved passage of its title or else in the recorded lead."""
        found = self.answerer.answer(question, claim, context)
        asked = self._recorded(question.text)
        if asked is None:
            return found
        if asked.answer is None or asked.title is None:
            return replace(found, text=None, cited=None)
        return replace(found, text=asked.answer, cited=self._citation(asked, found.retrieved))

    def _recorded(self, question: str) -> Asked | None:
        nearest = max(self.row.questions, key=lambda asked: f1(question, [asked.question]), default=None)
        return nearest if nearest and f1(question, [nearest.question]) >= MIN_SIMILARITY else None

    def _citation(self, asked: Asked, retrieved: Iterable[Passage]) -> Span:
        lead = Passage(dict(self.row.leads).get(asked.title or "", ""), asked.title or "", SOURCE)
        passages = [each for each in retrieved if each.title == asked.title] or [lead]
        for passage in passages:
            if span := _deciding_span(passage, asked.answer or "", self.row.decisive):
                return span
        return nearest_sentence(f"{asked.question} {asked.answer}", passages)


@dataclass(frozen=True)
class GoldSentencesReasoner:
    """Implements `Reasoner`: `reasoner` over the kept questions and answers with the claim's gold evidence alone.

    It does not change runs without a kept hop, which never reach a reasoner.
    """

    reasoner: Reasoner
    row: VitalClaim

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Conclude from the kept hops, each citing the gold evidence of its title; other titles are added."""
        return self.reasoner.conclude(claim, self.with_gold_sentences(claim, context), labels)

    def with_gold_sentences(self, claim: Claim, context: Context) -> Context:
        """Return the hops, each with the gold evidence of its title, and a further hop for each other title."""
        passages = {title: Passage(text, title, SOURCE) for title, text in self.row.gold_evidence()}
        hops = [_citing(hop, passages.get(_cited_title(hop))) for hop in context]
        missing = [each for title, each in passages.items() if title not in map(_cited_title, context)]
        for number, passage in enumerate(missing, max(hop.number for hop in context) + 1):
            answer = Answer("", Span(passage, 0, 0), (passage,))
            hops.append(Hop(number, Question(claim.text), answer, HopStatus.KEPT, SOURCE))
        return tuple(hops)


def nearest_sentence(text: str, passages: Sequence[Passage]) -> Span:
    """Return the sentence that shares most words with `text`, its passage's title included; the first of equals.

    Raises ValueError when the passages have no sentence.
    """
    wanted = content_words(text)
    spans = [Span(passage, *place) for passage in passages for place in sentence_spans(passage.text)]
    return max(spans, key=lambda span: len(wanted & content_words(f"{span.passage.title} {span.text}")))


def _cited_title(hop: Hop) -> str:
    return hop.answer.cited.passage.title if hop.answer and hop.answer.cited else ""


def _citing(hop: Hop, passage: Passage | None) -> Hop:
    """Return the hop with `passage` as its only evidence; None removes its evidence."""
    if hop.answer is None:
        return hop
    if passage is None:
        return replace(hop, answer=replace(hop.answer, cited=None, retrieved=()))
    text = hop.answer.text or ""
    span = _find(passage, text) or nearest_sentence(f"{hop.question.text} {text}", [passage])
    return replace(hop, answer=replace(hop.answer, cited=span, retrieved=(passage,)))


def _deciding_span(passage: Passage, answer: str, decisive: Iterable[str]) -> Span | None:
    """Return the answer within a deciding span of the passage, else the first such span, else the answer anywhere."""
    spans = [span for text in decisive if (span := _find(passage, text))]
    for span in spans:
        if answer_span := _find(passage, answer, span.start, span.end):
            return answer_span
    return spans[0] if spans else _find(passage, answer)


def _find(passage: Passage, text: str, start: int = 0, end: int | None = None) -> Span | None:
    """Return the first span of `text` in the passage as whole words, ignoring case."""
    pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
    match = pattern.search(passage.text, start, len(passage.text) if end is None else end) if text else None
    return Span(passage, match.start(), match.end()) if match else None
