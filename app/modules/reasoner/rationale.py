"""A rationale made of what the kept hops say themselves, and what is missing when they do not decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.domain.model import Claim, Context, Hop, Label, Passage, Sentence, Span
from app.modules.judging.evidence import Gathered
from app.modules.judging.gaps import gap, is_in, unanswered_sides
from app.modules.wording import names
from app.text.evidence import content_words
from app.text.sentences import sentence_spans, sentences

# Which sentence of a passage is quoted: the one that an answer stands in, or the one nearest to what is said.


def quoted_sentence(span: Span) -> str:
    """The sentence of the passage in which the cited span begins."""
    text = span.passage.text
    for start, end in sentence_spans(text):
        if start <= span.start < end:
            return text[start:end]
    return span.text


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


def quotations(context: Context) -> tuple[Sentence, ...]:
    """The sentence that each kept answer stands in, with its title; question and answer where nothing is cited."""
    return tuple(_quotation(hop) for hop in context)


def further_quotations(claim: Claim, evidence: Gathered) -> tuple[Sentence, ...]:
    """Of each passage that is weighed although no answer stands in it, the sentence nearest to the claim."""
    return tuple(
        Sentence(f"{each.title}, looked at as well: “{nearest_sentence(claim.text, [each]).text}”", (hop.number,))
        for hop, each in evidence.added
    )


def mentions(claim: Claim, context: Context, quoted: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """For each name of the claim that nothing `quoted` has, the first sentence of a cited passage that does."""
    told = " ".join(sentence.text for sentence in quoted)
    found = {}
    for name in names(claim.text):
        at = next((place for place in _cited_sentences(context) if is_in(name, place[2])), None)
        if at and not is_in(name, told):
            number, title, sentence = at
            found[sentence] = Sentence(f"{title} also says: “{sentence}”", (number,))
    return tuple(found.values())


def _cited_sentences(context: Context) -> Iterator[tuple[int, str, str]]:
    """The hop's number, the title and each sentence of the passages that are cited."""
    for hop in context:
        if hop.answer and hop.answer.cited:
            for sentence in sentences(hop.answer.cited.passage.text):
                yield hop.number, hop.answer.cited.passage.title, sentence


def closing(label: Label, context: Context) -> Sentence:
    """What the kept hops together come to."""
    return Sentence(_CLOSING[label], tuple(hop.number for hop in context))


def missing_from(claim: Claim, context: Context, passages: Sequence[tuple[str, str]]) -> str:
    """What none of the (title, text) `passages` speaks of, in a sentence for the page."""
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
