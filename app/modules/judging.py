"""Judge a claim by the kept hops: the evidence that is read, the probabilities of the labels, what decides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.domain.model import Claim, Context, Hop, Label, Passage, Span
from app.domain.ports import EntailmentModel, Reranker
from app.modules.answer_comparison import compared
from app.text.sentences import sentence_spans, sentences
from app.text.wording import names, stems

MAX_SELECTED = 4
"""Sentences that are selected for the judge beside those of the answers."""
MAX_RANKED, MAX_RANKED_AGAIN = 80, 25
"""Sentences that the first is selected from, since web pages are long, and the later ones."""
ENOUGH = 0.0
"""Score of "no further sentence decides", which the selector was trained with."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A sentence, or a whole passage, with its title and the number of the hop that read it."""

    title: str
    text: str
    hop: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence that the judge reads of the kept hops.

    `selected` are the sentences that decide the claim by the selector, best first; `cited` those of the answers.
    """

    selected: tuple[Excerpt, ...]
    cited: tuple[Excerpt, ...] = ()

    @property
    def excerpts(self) -> tuple[Excerpt, ...]:
        """Return all sentences, each once."""
        return tuple({(one.title, one.text): one for one in (*self.selected, *self.cited)}.values())


def evidence_of(claim: str, context: Context, selector: Reranker) -> Evidence:
    """Return what the judge reads.

    These are at most MAX_SELECTED sentences of all passages read, and the sentences that the answers begin in. A
    passage cited without a question (a data set's evidence) and an answer that cites nothing stay whole.
    """
    cited = (*map(_whole, filter(_is_given, context)), *_cited(context))
    read = {(passage.title, passage.text): (passage, number) for passage, number in _read(context)}
    chosen = select(claim, [passage for passage, _ in islice(read.values(), MAX_RANKED)], selector)
    return Evidence(tuple(Excerpt(one.title, one.text, read[one.title, one.text][1]) for one in chosen), cited)


def select(claim: str, sentences: Sequence[Passage], selector: Reranker) -> list[Passage]:
    """Return the sentence that most likely decides `claim`, then those that decide it together with the ones before."""
    chosen: list[Passage] = []
    rest: Sequence[Passage] = sentences
    while rest and len(chosen) < MAX_SELECTED:
        best, *others = selector.rerank(selector_query(claim, chosen), rest)
        if chosen and (best.score or 0.0) <= ENOUGH:
            break
        chosen.append(best)
        rest = others[:MAX_RANKED_AGAIN]
    return chosen


def selector_query(claim: str, chosen: Sequence[Passage]) -> str:
    """Return what the selector reads beside a sentence: the claim and the sentences selected before."""
    return " ".join([claim, *(f"{one.title}: {one.text}" for one in chosen)])


def unread_name(claim: str, context: Context) -> str:
    """Return the first name in `claim` of which no passage of the kept hops has a word; "" if there is none.

    Of three verdicts on development runs without a passage on such a name two were wrong. Numbers do not count:
    a false claim's number is often nowhere.
    """
    read = frozenset().union(*(stems(text) for hop in context for text in _texts(hop)))
    return next((name for name in names(claim) if not name[0].isdigit() and stems(name) and not stems(name) & read), "")


def by_title(found: Sequence[Excerpt]) -> list[tuple[str, str]]:
    """Return (title, text) of the excerpts, those of one title joined; those without a title stay apart."""
    texts: dict[tuple[str, int], list[str]] = {}
    for number, one in enumerate(found):
        texts.setdefault((one.title, 0 if one.title else number), []).append(one.text)
    return [(title, " ".join(parts)) for (title, _), parts in texts.items()]


def asked_pairs(context: Context) -> list[tuple[str, str]]:
    """Return (question, answer) of each kept hop whose answer is a part of a cited sentence."""
    asked = ((hop.question.text, hop.answer) for hop in context if hop.question.text)
    return [
        (question, " ".join(answer.text.split()))
        for question, answer in asked
        if answer and answer.text and answer.cited and answer.text != quoted_sentence(answer.cited)
    ]


def quoted_sentence(span: Span) -> str:
    """Return the sentence of the passage in which the cited span begins."""
    text = span.passage.text
    for start, end in sentence_spans(text):
        if start <= span.start < end:
            return text[start:end]
    return span.text


def _is_given(hop: Hop) -> bool:
    answer = hop.answer
    return answer is not None and answer.text is not None and (answer.cited is None or not hop.question.text)


def _whole(hop: Hop) -> Excerpt:
    answer = hop.answer
    if answer and answer.cited:
        return Excerpt(answer.cited.passage.title, answer.cited.passage.text, hop.number)
    return Excerpt("", f"{hop.question.text} {answer.text if answer else ''}".strip(), hop.number)


def _cited(context: Context) -> Iterator[Excerpt]:
    for hop in context:
        if hop.answer and hop.answer.text and hop.answer.cited and hop.question.text:
            yield Excerpt(hop.answer.cited.passage.title, quoted_sentence(hop.answer.cited), hop.number)


def _texts(hop: Hop) -> Iterator[str]:
    """Yield the texts of a hop's answer and of the passages that it read or cites, with their titles."""
    answer = hop.answer
    if answer:
        yield answer.text or ""
        for passage in (*answer.retrieved, *((answer.cited.passage,) if answer.cited else ())):
            yield f"{passage.title} {passage.text}"


def _read(context: Context) -> Iterator[tuple[Passage, int]]:
    """Yield the sentences of the passages that the asked hops read, with the hop's number."""
    for hop in context:
        for passage in hop.answer.retrieved if hop.answer and hop.question.text else ():
            for sentence in sentences(passage.text):
                yield replace(passage, text=sentence), hop.number


ORDER = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE)
COMPUTED = 0.9
"""Probability of a computed label: 27 of 31 comparisons by rule were right on new claims, answers misread included."""

Probabilities = dict[Label, float]


@dataclass(frozen=True)
class EvidenceJudge:
    """The entailment model over what the kept hops read. Propagates the errors of both models; holds no state."""

    model: EntailmentModel
    selector: Reranker

    def score(self, claim: Claim, context: Context) -> Probabilities:
        """Return the probability of each label."""
        return self.score_of(claim, context, self.evidence(claim, context))

    def evidence(self, claim: Claim, context: Context) -> Evidence:
        """Return what is read of the kept hops."""
        return evidence_of(claim.text, context, self.selector)

    def score_of(self, claim: Claim, context: Context, evidence: Evidence) -> Probabilities:
        """Return the probability of each label: the normalised geometric mean of two readings.

        One is of the selected sentences alone, the other of these, the cited ones, and the questions with their
        answers. Where the order of two answers can be computed, that overrules both.
        """
        if order := compared(claim, context):
            computed = (COMPUTED, 0.0, 1 - COMPUTED) if order.holds else (0.0, COMPUTED, 1 - COMPUTED)
            return dict(zip(ORDER, computed, strict=True))
        pairs = asked_pairs(context)
        readings: list[Sequence[Excerpt]] = [evidence.excerpts]
        asked: list[Sequence[tuple[str, str]]] = [pairs]
        if evidence.selected and (pairs or evidence.excerpts != evidence.selected):
            readings, asked = [evidence.selected, *readings], [(), *asked]
        rows = self.model.classify([(claim.text, by_title(read)) for read in readings], asked)
        joint = [math.prod(column) ** (1 / len(rows)) for column in zip(*rows, strict=True)]
        return {label: value / (sum(joint) or 1.0) for label, value in zip(ORDER, joint, strict=True)}

    def deciding(self, claim: Claim, evidence: Evidence, label: Label) -> Excerpt | None:
        """Return the excerpt that alone gives `label` the highest probability; None without any."""
        found = evidence.excerpts
        if len(found) < 2:
            return found[0] if found else None
        rows = self.model.classify([(claim.text, [(one.title, one.text)]) for one in found])
        place = ORDER.index(label)
        return found[max(range(len(found)), key=lambda at: rows[at][place])]

    def conflict(self, claim: Claim, context: Context, sufficient: float) -> tuple[Hop, Hop] | None:
        """Return the kept hops that support and refute the claim most, each above `sufficient` alone; or None."""
        if len(context) < 2:
            return None
        rows = [self.score(claim, (hop,)) for hop in context]
        supports = max(range(len(context)), key=lambda at: rows[at][Label.SUPPORTED])
        refutes = max(range(len(context)), key=lambda at: rows[at][Label.REFUTED])
        if min(rows[supports][Label.SUPPORTED], rows[refutes][Label.REFUTED]) < sufficient:
            return None
        return context[supports], context[refutes]


def decided(probabilities: Probabilities) -> float:
    """Return the larger of p(supported) and p(refuted)."""
    return max(probabilities[Label.SUPPORTED], probabilities[Label.REFUTED])
