"""Judge a claim by the kept hops: select the evidence and compute the probabilities of the labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.domain.model import Claim, Context, Hop, Label, Passage, Span
from app.domain.ports import Bounds, EntailmentModel, Reranker
from app.modules.answer_comparison import compare_answers
from app.text.sentences import sentence_spans, sentences
from app.text.wording import names, stems

MAX_SELECTED = 4
"""Sentences that are selected for the judge, besides those that the answers cite."""
MAX_FIRST_CANDIDATES, MAX_LATER_CANDIDATES = 80, 25
"""Sentences that are scored to select the first one, and each later one; web pages have hundreds."""
STOP_SCORE = 0.0
"""Score at or below which no further sentence is selected; the selector was trained with it."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A sentence, a whole passage, or a question with its uncited answer (no title), with the number of the hop."""

    title: str
    text: str
    hop: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for the judge, from the kept hops."""

    selected: tuple[Excerpt, ...]  # by the selector, most decisive first
    cited: tuple[Excerpt, ...] = ()  # by the answers

    @property
    def excerpts(self) -> tuple[Excerpt, ...]:
        """Return all excerpts, each once, with the last hop that cites it, else the last that read it."""
        return tuple({(one.title, one.text): one for one in (*self.selected, *self.cited)}.values())


def evidence_of(claim: str, context: Context, selector: Reranker) -> Evidence:
    """Return the evidence for the judge.

    It has at most MAX_SELECTED sentences, selected among the first MAX_FIRST_CANDIDATES that the hops retrieved, and
    the sentence in which each cited answer begins. A passage cited without a question (the evidence of a data set) and
    an answer without citation are taken whole.
    """
    cited = (*map(_uncut_excerpt, filter(_stays_whole, context)), *_cited_sentences(context))
    read = {(passage.title, passage.text): (passage, number) for passage, number in _sentences_read(context)}
    chosen = select(claim, [passage for passage, _ in islice(read.values(), MAX_FIRST_CANDIDATES)], selector)
    return Evidence(tuple(Excerpt(one.title, one.text, read[one.title, one.text][1]) for one in chosen), cited)


def select(claim: str, candidates: Sequence[Passage], selector: Reranker) -> list[Passage]:
    """Return the sentences that decide `claim`, selected one by one, each with those before it in the query."""
    chosen: list[Passage] = []
    rest = candidates
    while rest and len(chosen) < MAX_SELECTED:
        best, *others = selector.rerank(selector_query(claim, chosen), rest)
        if chosen and best.score <= STOP_SCORE:
            break
        chosen.append(best)
        rest = others[:MAX_LATER_CANDIDATES]
    return chosen


def selector_query(claim: str, chosen: Sequence[Passage]) -> str:
    """Return the selector's query: the claim and the sentences selected so far."""
    return " ".join([claim, *(f"{one.title}: {one.text}" for one in chosen)])


def unmentioned_name(claim: str, context: Context) -> str:
    """Return the first name in `claim` that shares no word with any answer or passage of the kept hops, or "".

    Verdicts on a claim with such a name are mostly wrong. Numbers do not count as names, because the evidence often
    lacks the number of a false claim.
    """
    read = frozenset().union(*(stems(text) for hop in context for text in _texts_read(hop)))
    return next((name for name in names(claim) if not name[0].isdigit() and stems(name) and not stems(name) & read), "")


def by_title(found: Sequence[Excerpt]) -> list[tuple[str, str]]:
    """Return the excerpts as (title, text), those with the same title joined, and each without a title by itself."""
    texts: dict[tuple[str, int], list[str]] = {}
    for number, one in enumerate(found):
        texts.setdefault((one.title, 0 if one.title else number), []).append(one.text)
    return [(title, " ".join(parts)) for (title, _), parts in texts.items()]


def cited_pairs(context: Context) -> list[tuple[str, str]]:
    """Return (question, answer) of each kept hop whose answer is cited, except where it is the whole cited sentence."""
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


def _stays_whole(hop: Hop) -> bool:
    answer = hop.answer
    return answer is not None and answer.text is not None and (answer.cited is None or not hop.question.text)


def _uncut_excerpt(hop: Hop) -> Excerpt:
    answer = hop.answer
    if answer and answer.cited:
        return Excerpt(answer.cited.passage.title, answer.cited.passage.text, hop.number)
    return Excerpt("", f"{hop.question.text} {answer.text if answer else ''}".strip(), hop.number)


def _cited_sentences(context: Context) -> Iterator[Excerpt]:
    for hop in context:
        if hop.answer and hop.answer.text and hop.answer.cited and hop.question.text:
            yield Excerpt(hop.answer.cited.passage.title, quoted_sentence(hop.answer.cited), hop.number)


def _texts_read(hop: Hop) -> Iterator[str]:
    """Yield the answer's text, and the titles and texts of the passages that it retrieved or cites."""
    answer = hop.answer
    if answer:
        yield answer.text or ""
        for passage in (*answer.retrieved, *((answer.cited.passage,) if answer.cited else ())):
            yield f"{passage.title} {passage.text}"


def _sentences_read(context: Context) -> Iterator[tuple[Passage, int]]:
    """Yield each sentence of the passages retrieved for a question, with the number of the hop."""
    for hop in context:
        for passage in hop.answer.retrieved if hop.answer and hop.question.text else ():
            for sentence in sentences(passage.text):
                yield replace(passage, text=sentence), hop.number


LABEL_ORDER = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE)
"""The order of `EntailmentModel.classify`'s probabilities."""
COMPARISON_PROBABILITY = 0.9
"""Probability of a label computed by arithmetic. Of 31 comparisons on new claims 27 were right."""

Probabilities = dict[Label, float]


@dataclass(frozen=True)
class EvidenceJudge:
    """The entailment model over the evidence of the kept hops. Propagates the errors of both models; holds no state."""

    model: EntailmentModel
    selector: Reranker

    def evidence(self, claim: Claim, context: Context) -> Evidence:
        return evidence_of(claim.text, context, self.selector)

    def probabilities(self, claim: Claim, context: Context, evidence: Evidence | None = None) -> Probabilities:
        """Return the probability of each label: the normalised geometric mean of two classifications.

        The first is by the selected sentences alone; the second by these, the cited ones and the question-answer
        pairs. There is only the second where nothing was selected or the two would be equal, and none where the order
        of two answers decides. `evidence` is that of `context`, None to compute it.
        """
        if compared := compare_answers(claim, context):
            right, wrong = Label.SUPPORTED, Label.REFUTED
            if not compared.holds:
                right, wrong = wrong, right
            rest = 1 - COMPARISON_PROBABILITY
            return {right: COMPARISON_PROBABILITY, wrong: 0.0, Label.NOT_ENOUGH_EVIDENCE: rest}
        evidence = evidence or self.evidence(claim, context)
        pairs = cited_pairs(context)
        readings: list[Sequence[Excerpt]] = [evidence.excerpts]
        asked: list[Sequence[tuple[str, str]]] = [pairs]
        if evidence.selected and (pairs or evidence.excerpts != evidence.selected):
            readings, asked = [evidence.selected, *readings], [(), *asked]
        rows = self.model.classify([(claim.text, by_title(read)) for read in readings], asked)
        joint = [math.prod(column) ** (1 / len(rows)) for column in zip(*rows, strict=True)]
        return {label: value / (sum(joint) or 1.0) for label, value in zip(LABEL_ORDER, joint, strict=True)}

    def deciding(self, claim: Claim, evidence: Evidence, label: Label) -> Excerpt | None:
        """Return the excerpt that by itself gives `label` the highest probability; None if there is no excerpt."""
        found = evidence.excerpts
        if len(found) < 2:
            return found[0] if found else None
        rows = self.model.classify([(claim.text, [(one.title, one.text)]) for one in found])
        place = LABEL_ORDER.index(label)
        return found[max(range(len(found)), key=lambda at: rows[at][place])]

    def conflict(self, claim: Claim, context: Context, bounds: Bounds) -> tuple[Hop, Hop] | None:
        """Return the kept hops that most support and most refute the claim; None unless both reach their bounds."""
        if len(context) < 2:
            return None
        by_hop = [self.probabilities(claim, (hop,)) for hop in context]
        supports = max(range(len(context)), key=lambda at: by_hop[at][Label.SUPPORTED])
        refutes = max(range(len(context)), key=lambda at: by_hop[at][Label.REFUTED])
        if (bounds.label(by_hop[supports]), bounds.label(by_hop[refutes])) != (Label.SUPPORTED, Label.REFUTED):
            return None
        return context[supports], context[refutes]


def decision_probability(probabilities: Probabilities) -> float:
    """Return the larger of p(supported) and p(refuted)."""
    return max(probabilities[Label.SUPPORTED], probabilities[Label.REFUTED])
