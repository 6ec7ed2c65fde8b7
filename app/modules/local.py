"""The five modules over one local model, which continues one transcript of the run (transcript.py).

Question generator, reader, claim verifier, reasoner and explainer share the model and the text, so a run reads each
passage once. A verdict needs two readings: of the transcript, and of claim and sources without the questions, because
a question that presupposes the claim ("Of which country is Istanbul the capital?") misleads the first.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Self

from app.domain.errors import ModelUnavailable
from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import (
    Answer,
    Claim,
    Context,
    Hop,
    HopStatus,
    Judgement,
    Label,
    Passage,
    Question,
    Sentence,
    Verdict,
)
from app.domain.ports import Bounds, TranscriptModel
from app.modules import transcript as form
from app.modules.calculation import Calculate, uncalculated
from app.modules.judging import (
    Probabilities,
    citation,
    closing,
    decision_probability,
    is_described,
    is_grounded,
    missing_from,
    quotation,
    quotations,
    quoted_sentence,
    spans_of,
    truth,
)
from app.modules.remaining_claim import Reduce, unreduced
from app.modules.transcript import Source, Step
from app.text.sentences import is_common_word
from app.text.wording import bare_title, names, normalised, same_question, stems

SOURCES_READ, LATER_SOURCES_READ = 2, 1
"""Passages that the model reads for the first question, and for each later one, which knows better what it wants."""
MAX_SOURCES = 4
"""Passages of the second reading."""
ENOUGH_ANSWERS = 2
"""Kept answers after which a model that repeats its questions ends the run."""
MIN_OVERLOOKED = 0.9
"""Least probability, by its passage, of an answer that the model gives only where it may not say "not found"."""
QUESTION_TOKENS, ANSWER_TOKENS, EXPLANATION_TOKENS = 40, 48, 64


def sources_of(hop: Hop, is_first: bool = True) -> tuple[Passage, ...]:
    """Return the passages of the hop that the transcript shows: the best ones, and the cited one among them."""
    if hop.answer is None:
        return ()
    count = SOURCES_READ if is_first else LATER_SOURCES_READ
    read = hop.answer.retrieved[:count]
    cited = hop.answer.cited.passage if hop.answer.cited else None
    return read if cited is None or cited in read else (cited, *read)[:count]


def steps_of(hops: Sequence[Hop]) -> tuple[Step, ...]:
    """Return the steps of the transcript; a hop that was not kept has no answer."""
    return tuple(
        Step(
            hop.question.text,
            tuple(map(_source, sources_of(hop, is_first=not place))),
            hop.answer_text if hop.status is not HopStatus.SET_ASIDE and hop.answer_text else None,
        )
        for place, hop in enumerate(each for each in hops if each.question.text)
    )


def _source(passage: Passage) -> Source:
    return Source(passage.title, passage.text)


# Q


@dataclass(frozen=True)
class LocalQuestionGenerator:
    """Implements `QuestionGenerator` (QACheck, section 3.2). Propagates the model's errors; holds no state."""

    model: TranscriptModel
    reduce: Reduce = unreduced

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return the model's next question; if it repeats one, a look-up of what was not searched yet, or None."""
        report_phase(Code.THINKING())
        hops = sorted((hop for hop in (*context, *set_aside) if hop.question.text), key=lambda hop: hop.number)
        remaining = self.reduce(claim, hops)
        for text in chain([self._proposal(remaining.claim, remaining.hops)], look_ups(remaining.claim, hops)):
            if is_new(text, hops):
                return Question(text)
        return None

    def warm(self) -> None:
        """Ask once, so that the model is loaded and the first visitor does not wait for it."""
        self._proposal(Claim("Warsaw lies in Poland."), ())

    def _proposal(self, claim: Claim, hops: Sequence[Hop]) -> str:
        prompt = form.before_question(claim.text, steps_of(hops))
        return self.model.complete(prompt, max_tokens=QUESTION_TOKENS, stop=("\n",)).strip()


def is_new(question: str, hops: Sequence[Hop]) -> bool:
    """Return whether the question is whole and was not asked before."""
    return question.endswith("?") and not any(same_question(question, hop.question.text) for hop in hops)


def look_ups(claim: Claim, hops: Sequence[Hop]) -> Iterator[str]:
    """Yield the claim itself as a question, then a question about each name that no source read so far has as title.

    They are searches of other kinds, for a run that has found little: none is yielded after ENOUGH_ANSWERS.
    """
    if sum(hop.status is HopStatus.KEPT for hop in hops) >= ENOUGH_ANSWERS:
        return
    yield f"Is it true that {claim.text.strip().rstrip('.!?')}?"
    read = {normalised(bare_title(each.title)) for hop in hops for each in sources_of(hop)}
    for name in names(claim.text):
        if not name[0].isdigit() and normalised(name) not in read and not is_common_word(name):
            yield f"What is {name}?"


# A


@dataclass(frozen=True)
class LocalReader:
    """Implements `Reader`: the model continues the transcript with an answer, cited in the sentence that holds it.

    "Not found" is said too often: what it answers else is taken if it is confirmed by its passage alone.
    """

    model: TranscriptModel
    reduce: Reduce = unreduced

    def read(
        self, question: Question, passages: Sequence[Passage], claim: Claim | None = None, context: Context = ()
    ) -> Answer:
        """Return the answer from the first passages; its text is None where they have none."""
        if claim:
            remaining = self.reduce(claim, context)
            claim, context = remaining.claim, remaining.hops
        read = passages[: LATER_SOURCES_READ if context else SOURCES_READ]
        sources = tuple(map(_source, read))
        if not sources:
            return Answer(None, retrieved=tuple(passages))
        if claim is None:
            prompt = form.asked(question.text, sources, question.text, is_first=False) + form.ANSWER
        else:
            prompt = form.before_answer(claim.text, steps_of(context), question.text, sources)
        about = f"{question.text} {claim.text if claim else ''}"
        text = self._completed(prompt)
        if text and normalised(text) != form.NOT_FOUND:
            return Answer(text, citation(text, about, read), tuple(passages))
        text = self._completed(prompt, without=form.NOT_FOUND.split()[0])
        cited = citation(text, about, read) if text and normalised(text) != form.NOT_FOUND else None
        if cited and truth(self.model, f"{question.text} {text}", cited.passage) >= MIN_OVERLOOKED:
            return Answer(text, cited, tuple(passages))
        return Answer(None, retrieved=tuple(passages))

    def _completed(self, prompt: str, without: str = "") -> str:
        return self.model.complete(prompt, max_tokens=ANSWER_TOKENS, stop=("\n",), without=without).strip()


# D and R

LABELS = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE)
WORDS = tuple(form.VERDICT_WORDS[label] for label in LABELS)
MIN_PROBABILITY = 1e-6
MIN_DECIDED = 0.4
"""Probability of true or false by the transcript from which sources are read a second time before the next question."""
LATE_PROBABILITY = 0.8
"""Least probability of a label after more than ENOUGH_ANSWERS answers, which seldom decide what those did not."""
CALCULATION_PROBABILITY = 0.9
"""Probability of a label computed by arithmetic."""
SURE_PROBABILITY = 0.85
MIN_SAID_PROBABILITY = 0.7
"""Below the first, a claim is true only where the cited sentences alone make it so with the second.

Checked on stored runs (research/notes/2026-11-29-cited-sentences.md).
"""
MAX_EXCHANGED_NAMES = 3
MIN_EXCHANGED_LOGIT = 0.5
"""How much truer a claim with two of its names exchanged must be for the claim not to be true.

Neither way round is truer where both are ("Angola borders Zambia."). Fitted on development claims
(research/notes/2026-11-29-exchanged-names.md).
"""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How two readings become one distribution: a softmax over weighted log-probabilities and a bias for each label.

    True and false are never likelier than by the sources alone, which no question can mislead.

    Fitted on whole runs over development claims (research/claims/calibrate.py).
    """

    transcript: float
    sources: float
    bias: tuple[float, float, float]
    bounds: Bounds

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the file beside the adapter. Raises ModelUnavailable when it is missing or damaged."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            bounds = Bounds(found["supported"], found["refuted"])
            return cls(found["transcript"], found["sources"], tuple(found["bias"]), bounds)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelUnavailable(f"The file {path.name} is missing or damaged", f"git checkout -- {path}") from error

    def combine(self, transcript: Sequence[float], sources: Sequence[float]) -> tuple[float, ...]:
        """Return the calibrated probabilities of true, false and open."""
        logits = [
            self.transcript * math.log(max(one, MIN_PROBABILITY))
            + self.sources * math.log(max(other, MIN_PROBABILITY))
            + bias
            for one, other, bias in zip(transcript, sources, self.bias, strict=True)
        ]
        powers = [math.exp(each - max(logits)) for each in logits]
        decided = [min(power / sum(powers), alone) for power, alone in zip(powers[:-1], sources[:-1], strict=True)]
        return *decided, 1 - sum(decided)


@dataclass(frozen=True)
class LocalJudge:
    """Judges the claim by the kept hops, in two readings. Propagates the model's errors; holds no state."""

    model: TranscriptModel
    calibration: Calibration
    reduce: Reduce = unreduced
    calculate: Calculate = uncalculated

    def probabilities(self, claim: Claim, context: Context) -> Probabilities:
        """Return the probability of each label; by arithmetic where the numbers of the answers decide."""
        if calculated := self.calculate(claim, context):
            right, wrong = Label.SUPPORTED, Label.REFUTED
            if not calculated.holds:
                right, wrong = wrong, right
            return {right: CALCULATION_PROBABILITY, wrong: 0.0, Label.NOT_ENOUGH_EVIDENCE: 1 - CALCULATION_PROBABILITY}
        true, false, still_open = self.calibration.combine(*self.readings(claim, context))
        if true >= self.calibration.bounds.supported and not self.is_said(*self.view(claim, context), true):
            true, still_open = 0.0, still_open + true
        return dict(zip(LABELS, (true, false, still_open), strict=True))

    def is_open(self, claim: Claim, context: Context) -> bool:
        """Return whether the transcript alone leaves the claim open, so that a second reading may wait."""
        *decided, _ = self.by_transcript(*self.view(claim, context))
        return len(context) > 1 and not self.calculate(claim, context) and max(decided) < MIN_DECIDED

    def readings(self, claim: Claim, context: Context) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the probabilities of true, false and open by the transcript, and by claim and sources alone."""
        claim, context = self.view(claim, context)
        return self.by_transcript(claim, context), self.by_sources(claim, context)

    def view(self, claim: Claim, context: Context) -> tuple[Claim, Context]:
        """Return what remains of the claim before the last hop, with the hops that are about it."""
        remaining = self.reduce(claim, context[:-1])
        return remaining.claim, (*remaining.hops, *context[-1:])

    def by_transcript(self, claim: Claim, context: Context) -> tuple[float, ...]:
        steps = steps_of(context)
        if not steps:  # evidence that comes with a data set has no questions
            return self.by_sources(claim, context)
        return self.model.probabilities(form.before_verdict(claim.text, steps), WORDS)

    def by_sources(self, claim: Claim, context: Context) -> tuple[float, ...]:
        sources = second_sources(claim, context)
        if not sources and steps_of(context):  # answers that come with a data set have no sources
            return self.by_transcript(claim, context)
        return self.model.probabilities(form.before_second_reading(claim.text, sources), WORDS)

    def is_said(self, claim: Claim, context: Context, true: float) -> bool:
        """Return whether the cited sentences say the claim, and not rather with two of its names exchanged.

        `true` is how likely it is by both readings. The model reads "Spain is the capital of Madrid." like what the
        source says: .83, and 1.00 the other way round; and "Istanbul is the capital of Turkey." over a whole article.
        """
        cited = cited_sentences(context)
        others = exchanged(claim.text) if cited else []
        if not cited or (true >= SURE_PROBABILITY and not others):
            return True
        said = self._truth(claim.text, cited)
        if true < SURE_PROBABILITY and said < MIN_SAID_PROBABILITY:
            return False
        likely = [self._truth(other, cited) for other in others]
        bound = self.calibration.bounds.supported
        return not any(each >= bound and _logit(each) > _logit(said) + MIN_EXCHANGED_LOGIT for each in likely)

    def _truth(self, text: str, sources: Sequence[tuple[Source, str]]) -> float:
        return self.model.probabilities(form.before_second_reading(text, sources), WORDS)[0]

    def label(self, probabilities: Probabilities, context: Context) -> Label | None:
        """Return SUPPORTED or REFUTED where its probability reaches its bound, a higher one after many answers."""
        if len(context) > ENOUGH_ANSWERS and decision_probability(probabilities) < LATE_PROBABILITY:
            return None
        return self.calibration.bounds.label(probabilities)

    def conflict(self, claim: Claim, context: Context) -> tuple[Hop, Hop] | None:
        """Return the kept hops that most support and most refute the claim; None unless both reach their bounds."""
        if len(context) < 2:
            return None
        by_hop = [self.probabilities(claim, (hop,)) for hop in context]
        supports = max(range(len(context)), key=lambda at: by_hop[at][Label.SUPPORTED])
        refutes = max(range(len(context)), key=lambda at: by_hop[at][Label.REFUTED])
        if [self.label(by_hop[at], (context[at],)) for at in (supports, refutes)] != [Label.SUPPORTED, Label.REFUTED]:
            return None
        return context[supports], context[refutes]


def second_sources(claim: Claim, context: Context) -> list[tuple[Source, str]]:
    """Return the distinct sources of the second reading, each with the text that its cut is to be near to.

    With one hop they are all that it read, a beginning that the transcript shares; with several those that are cited.
    """
    found: dict[tuple[str, str], tuple[Source, str]] = {}
    for hop in context:
        cited = hop.answer.cited.passage if hop.answer and hop.answer.cited else None
        for passage in sources_of(hop) if len(context) == 1 or cited is None else (cited,):
            found.setdefault((passage.title, passage.text), (_source(passage), f"{hop.question.text} {claim.text}"))
    return list(found.values())[:MAX_SOURCES]


def cited_sentences(context: Context) -> list[tuple[Source, str]]:
    """Return the sentence that each hop cites as a source of its own."""
    return [
        (Source(bare_title(hop.answer.cited.passage.title), quoted_sentence(hop.answer.cited)), "")
        for hop in context
        if hop.answer and hop.answer.cited
    ]


def exchanged(text: str) -> list[str]:
    """Return the text with two of its names in each other's place, for each two; [] with one name or with many."""
    found = [name for name in names(text) if not name[0].isdigit() and text.count(name) == 1]
    if len(found) > MAX_EXCHANGED_NAMES:
        return []
    return [_with_exchanged(text, *pair) for pair in combinations(found, 2)]


def _with_exchanged(text: str, one: str, other: str) -> str:
    pattern = f"{re.escape(one)}|{re.escape(other)}"
    return re.sub(pattern, lambda found: other if found[0] == one else one, text)


def _logit(probability: float) -> float:
    return math.log(max(probability, MIN_PROBABILITY) / max(1 - probability, MIN_PROBABILITY))


@dataclass(frozen=True)
class LocalClaimVerifier:
    """Implements `ClaimVerifier` (QACheck, section 3.1): sufficient where both readings together decide."""

    judge: LocalJudge

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        """Return whether the kept evidence decides the claim. Propagates the model's errors."""
        report_phase(Code.DECIDING_ENOUGH())
        likely = None
        if not self.judge.is_open(claim, context):
            probabilities = self.judge.probabilities(claim, context)
            likely = decision_probability(probabilities)
            if self.judge.label(probabilities, context):
                return Judgement(True, Code.DECIDED(), likely)
        remaining = self.judge.reduce(claim, context)
        reason = Code.REMAINS(claim=remaining.claim.text) if remaining.settled else Code.NOT_DECIDED()
        return Judgement(False, reason, None if likely is None else 1 - likely)


NOT_ENOUGH_AS_SUPPORTED = 0.25
"""Share of p(not enough evidence) that counts as SUPPORTED when only two labels are allowed.

Fitted on runs: a claim for which a run finds nothing is more often false than true.
"""


@dataclass(frozen=True)
class LocalReasoner:
    """Implements `Reasoner` (QACheck, section 3.5): the judge's label, a checked explanation and quotations."""

    judge: LocalJudge

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with its probability; NOT_ENOUGH_EVIDENCE and CONFLICTING_EVIDENCE have none.

        CONFLICTING_EVIDENCE, if allowed, is given when one hop alone supports and another alone refutes the claim.
        """
        report_phase(Code.WEIGHING_EVIDENCE())
        if Label.CONFLICTING_EVIDENCE in labels and (hops := self.judge.conflict(claim, context)):
            opposed = Sentence(Code.OPPOSED(), tuple(hop.number for hop in hops))
            return Verdict(Label.CONFLICTING_EVIDENCE, (opposed, *quotations(hops)))
        label, confidence = self._label(claim, context, labels)
        missing = missing_from(claim, context) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, self._rationale(claim, context, label), missing, confidence)

    def _rationale(self, claim: Claim, context: Context, label: Label) -> tuple[Sentence, ...]:
        quoted = quotations(context)
        if label is Label.NOT_ENOUGH_EVIDENCE:
            return (*quoted, closing(label, context))
        if calculated := self.judge.calculate(claim, context):
            return (calculated.sentence, *quoted, closing(label, context))
        # What one source says itself needs no other words, which take a quarter of the time of the check.
        if label is Label.SUPPORTED and len(context) == 1 and quoted[0].quote:
            return quoted
        remaining = self.judge.view(claim, context)  # as the verdict was given, so its prompt is computed already
        explained = self._explanation(*remaining, label)
        if self._may_be_shown(explained, *remaining):
            return (Sentence(explained, tuple(hop.number for hop in context)), *quoted)
        first = deciding_quote(f"{claim.text} {explained}", context)
        return (
            *first,
            *(each for each in quoted if each.text not in {one.text for one in first}),
            closing(label, context),
        )

    def _explanation(self, claim: Claim, context: Context, label: Label) -> str:
        begun = form.before_verdict(claim.text, steps_of(context))
        prompt = form.before_explanation(begun, form.VERDICT_WORDS[label])
        report_phase(Code.EXPLAINING_TRUE() if label is Label.SUPPORTED else Code.EXPLAINING_FALSE())
        return self.judge.model.complete(prompt, max_tokens=EXPLANATION_TOKENS, stop=("\n", form.END)).strip()

    def _may_be_shown(self, text: str, claim: Claim, context: Context) -> bool:
        """Return whether the explanation may be the headline.

        It is shown if it is whole, its names and numbers are in claim or evidence, what it opposes is not the same,
        and the model finds it true by the cited sentences alone.
        """
        cited = cited_sentences(context)
        evidence = " ".join(f"{source.title} {source.text}" for source, _ in second_sources(claim, context))
        if (
            not text.endswith(".")
            or not is_grounded(text, f"{claim.text} {evidence}")
            or has_equal_sides(text)
            or not cited
        ):
            return False
        true, false, _ = self.judge.model.probabilities(form.before_second_reading(text, cited), WORDS)
        return true >= MIN_EXPLANATION_PROBABILITY and true > false

    def _label(self, claim: Claim, context: Context, labels: Sequence[Label]) -> tuple[Label, float | None]:
        probabilities = self.judge.probabilities(claim, context)
        if Label.NOT_ENOUGH_EVIDENCE not in labels:
            share = NOT_ENOUGH_AS_SUPPORTED * probabilities[Label.NOT_ENOUGH_EVIDENCE]
            supported = probabilities[Label.SUPPORTED] + share
            return (Label.SUPPORTED, supported) if supported >= 0.5 else (Label.REFUTED, 1 - supported)
        decided = self.judge.label(probabilities, context)
        return (decided, probabilities[decided]) if decided else (Label.NOT_ENOUGH_EVIDENCE, None)


MIN_EXPLANATION_PROBABILITY = 0.6


def deciding_quote(about: str, context: Context) -> tuple[Sentence, ...]:
    """Return the sentence of the cited passages that shares most stems with `about` for its length; () for none."""
    wanted = stems(about)
    found = [
        (len(wanted & stems(f"{span.passage.title} {span.text}")) / (len(stems(span.text)) + 5) ** 0.5, hop, span)
        for hop in context
        if hop.answer and hop.answer.cited
        for span in spans_of(hop.answer.cited.passage)
        if not is_described(span)
    ]
    if not found:
        return ()
    _, hop, span = max(found, key=lambda each: each[0])
    return (quotation(span.passage, span.text.strip(), hop.number),)


def has_equal_sides(text: str) -> bool:
    """Return whether what "..., not Y" opposes says nothing that the text before it does not say."""
    before, found, after = text.partition(", not ")
    return bool(found) and stems(after) <= stems(before)
