"""A rationale made of what the kept hops say themselves, and what is missing when they do not decide."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.model import Claim, Context, Hop, Label, Passage, Sentence, Span
from app.modules.judging.evidence import Excerpt, quoted_sentence
from app.modules.wording import names
from app.text.evidence import content_words
from app.text.sentences import sentence_spans


def nearest_sentence(said: str, passages: Sequence[Passage]) -> Span:
    """The sentence that shares most words with `said`; those of the title count as said in every sentence.

    Of equals the first wins, so the best passage's. Raises ValueError when there is no sentence at all.
    """
    wanted = content_words(said)
    spans = [Span(passage, *place) for passage in passages for place in sentence_spans(passage.text)]

    def shared(span: Span) -> int:
        return len(wanted & content_words(f"{span.passage.title} {span.text}"))

    return max(spans, key=shared)


_CLOSING = {
    Label.SUPPORTED: "Together this supports the claim.",
    Label.REFUTED: "This does not agree with the claim.",
    Label.NOT_ENOUGH_EVIDENCE: "This does not settle the claim.",
    Label.CONFLICTING_EVIDENCE: "Some of this supports the claim, and some of it does not agree with it.",
}


def quotations(context: Context, first: Excerpt | None = None) -> tuple[Sentence, ...]:
    """Return the sentences that the kept answers begin in, with their titles, `first` before them.

    Each sentence comes once, with all its hops. Question and answer where nothing is cited.
    """
    hops: dict[str, list[int]] = {_quoted(first.title, first.text): [first.hop]} if first else {}
    for hop in context:
        numbers = hops.setdefault(_quotation(hop), [])
        if hop.number not in numbers:
            numbers.append(hop.number)
    return tuple(Sentence(text, tuple(numbers)) for text, numbers in hops.items())


def closing(label: Label, context: Context) -> Sentence:
    """What the kept hops together come to."""
    return Sentence(_CLOSING[label], tuple(hop.number for hop in context))


def missing_from(claim: Claim) -> str:
    """Return what is missing, in a sentence for the page."""
    named = names(claim.text)
    about = f" about {' and '.join(named)}" if named else ""
    return f"The evidence kept{about} does not say whether the claim holds."


def _quotation(hop: Hop) -> str:
    answer = hop.answer
    if answer is None or answer.cited is None:
        return f"{hop.question.text} {answer.text if answer else ''}".strip()
    return _quoted(answer.cited.passage.title, quoted_sentence(answer.cited))


def _quoted(title: str, text: str) -> str:
    return f"{title}: “{text}”" if title else text
