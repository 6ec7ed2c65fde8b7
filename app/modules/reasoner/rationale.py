"""Compose a rationale from quotations of the kept hops, and describe the missing information if they do not decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.domain.model import Claim, Context, Hop, Label, Passage, Sentence, Span
from app.modules.judging.evidence import Gathered
from app.modules.judging.gaps import gap, is_in, unanswered_sides
from app.modules.wording import names
from app.text.evidence import content_words
from app.text.sentences import sentence_spans, sentences


def quoted_sentence(span: Span) -> str:
    """Return the sentence of the passage in which the cited span begins."""
    text = span.passage.text
    for start, end in sentence_spans(text):
        if start <= span.start < end:
            return text[start:end]
    return span.text


def nearest_sentence(said: str, passages: Sequence[Passage]) -> Span:
    """Return the sentence that shares the most words with `said`; the title's words count for every sentence.

    The first wins a tie, which is the best passage's. Raises ValueError if there is no sentence at all.
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


def quotations(context: Context) -> tuple[Sentence, ...]:
    """Return for each kept hop the title and cited sentence, or question and answer if it cites nothing."""
    return tuple(_quotation(hop) for hop in context)


def further_quotations(claim: Claim, evidence: Gathered) -> tuple[Sentence, ...]:
    """Return the sentence nearest to the claim for each weighed passage that no answer cites."""
    return tuple(
        Sentence(f"{each.title}, looked at as well: “{nearest_sentence(claim.text, [each]).text}”", (hop.number,))
        for hop, each in evidence.added
    )


def mentions(claim: Claim, context: Context, quoted: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return, for each name of the claim missing from `quoted`, the first cited sentence that contains it."""
    told = " ".join(sentence.text for sentence in quoted)
    found = {}
    for name in names(claim.text):
        at = next((place for place in _cited_sentences(context) if is_in(name, place[2])), None)
        if at and not is_in(name, told):
            number, title, sentence = at
            found[sentence] = Sentence(f"{title} also says: “{sentence}”", (number,))
    return tuple(found.values())


def _cited_sentences(context: Context) -> Iterator[tuple[int, str, str]]:
    """Yield the hop number, the title and the text of each sentence of the cited passages."""
    for hop in context:
        if hop.answer and hop.answer.cited:
            for sentence in sentences(hop.answer.cited.passage.text):
                yield hop.number, hop.answer.cited.passage.title, sentence


def closing(label: Label, context: Context) -> Sentence:
    """Return the closing sentence for the label, referring to all kept hops."""
    return Sentence(_CLOSING[label], tuple(hop.number for hop in context))


def missing_from(claim: Claim, context: Context, passages: Sequence[tuple[str, str]]) -> str:
    """Return a sentence for the page on the information that the (title, text) `passages` lack."""
    if unanswered := unanswered_sides(claim, context):
        return f"The claim compares, and nothing that was found answers “{unanswered[0]}”."
    if missing := gap(claim, context, passages):
        return f"No evidence was found that {missing}."
    named = names(claim.text)
    about = f" about {' and '.join(named)}" if named else ""
    return f"The evidence kept{about} does not say whether the claim holds."


def _quotation(hop: Hop) -> Sentence:
    answer = hop.answer
    if answer is None or answer.cited is None:
        return Sentence(f"{hop.question.text} {answer.text if answer else ''}".strip(), (hop.number,))
    return Sentence(f"{answer.cited.passage.title}: “{quoted_sentence(answer.cited)}”", (hop.number,))
