"""What verifiers, validators and reasoners share: cited sentences, probabilities of labels, parts of rationales."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.domain.messages import Code, Message
from app.domain.model import Claim, Context, Hop, Label, Passage, Sentence, Span
from app.domain.ports import TranscriptModel
from app.modules.transcript import VERDICT_WORDS, Source, before_second_reading
from app.text.sentences import content_words, is_common_word, sentence_spans
from app.text.wording import names, stems

Probabilities = dict[Label, float]


def decision_probability(probabilities: Probabilities) -> float:
    """Return the larger of p(supported) and p(refuted)."""
    return max(probabilities[Label.SUPPORTED], probabilities[Label.REFUTED])


def truth(model: TranscriptModel, text: str, passage: Passage) -> float:
    """Return the probability that the text, a claim or a question with its answer, is true by the passage alone.

    Propagates the model's errors.
    """
    prompt = before_second_reading(text, [(Source(passage.title, passage.text), text)])
    return model.probabilities(prompt, tuple(VERDICT_WORDS.values()))[0]


def spans_of(passage: Passage) -> list[Span]:
    """Return the sentences of the passage; its short description, if it has one, is the first."""
    offset = passage.described
    places = [(offset + start, offset + end) for start, end in sentence_spans(passage.text[offset:])]
    return [Span(passage, *place) for place in ([(0, offset)] if offset else []) + places]


def is_described(span: Span) -> bool:
    """Return whether the span is in the source's short description and not in the text itself."""
    return span.start < span.passage.described


def quoted_sentence(span: Span) -> str:
    """Return the sentence of the passage in which the cited span begins."""
    return next(
        (each.text.strip() for each in spans_of(span.passage) if each.start <= span.start < each.end), span.text
    )


def citation(answer: str, about: str, passages: Sequence[Passage]) -> Span | None:
    """Return where the passages have the answer, else the sentence nearest to answer and question.

    Of several places it is the one in the sentence with most words of `about`, and a short description comes last.
    """
    wanted = content_words(about)
    pattern = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)", re.IGNORECASE)
    sentences = [(span, wanted & _words_of(span)) for passage in passages for span in spans_of(passage)]
    places = [
        (not is_described(span), len(shared), Span(span.passage, *found.span()))
        for span, shared in sentences
        for found in pattern.finditer(span.passage.text, span.start, span.end)
    ]
    if places:
        return max(places, key=lambda place: place[:2])[2]
    answered = content_words(answer)
    near = [(not is_described(span), len(shared | (answered & _words_of(span))), span) for span, shared in sentences]
    return max(near, key=lambda place: place[:2])[2] if near else None


def _words_of(span: Span) -> set[str]:
    return content_words(f"{span.passage.title} {span.text}")


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def is_grounded(text: str, known: str) -> bool:
    """Return whether each number and each word of a name in `text` is in `known`; "Fewer" at the start is no name."""
    words, numbers = stems(known), set(_NUMBER.findall(known))
    named = [name for name in names(text) if not name[0].isdigit() and not is_common_word(name)]
    return set(_NUMBER.findall(text)) <= numbers and all(stems(name) <= words for name in named)


def _texts_read(hop: Hop) -> Iterator[str]:
    answer = hop.answer
    if answer:
        yield answer.text or ""
        for passage in (*answer.retrieved, *((answer.cited.passage,) if answer.cited else ())):
            yield f"{passage.title} {passage.text}"


def quotations(context: Context) -> tuple[Sentence, ...]:
    """Return the sentence in which each kept answer begins, each once; question and answer without a citation."""
    found: dict[str, Sentence] = {}
    for quoted in map(_quotation, context):
        earlier = found.get(str(quoted.text), quoted)
        found[str(quoted.text)] = replace(quoted, hops=tuple(dict.fromkeys((*earlier.hops, *quoted.hops))))
    return tuple(found.values())


def closing(label: Label, context: Context) -> Sentence:
    """Return the last sentence of the rationale: the result of all kept hops."""
    return Sentence(label.closing(), tuple(hop.number for hop in context))


def missing_from(claim: Claim, context: Context) -> Message:
    """Return the missing evidence: the first name of the claim that no answer or passage shares a word with, if any."""
    named = [name for name in names(claim.text) if not name[0].isdigit()]  # a false claim's number is often not there
    read = frozenset().union(*(stems(text) for hop in context for text in _texts_read(hop)))
    if unread := next((name for name in named if stems(name) and not stems(name) & read), None):
        return Code.NAME_NOT_READ(name=unread)
    return Code.NOTHING_SAYS_ABOUT(names=" and ".join(named)) if named else Code.NOTHING_SAYS()


def _quotation(hop: Hop) -> Sentence:
    cited = hop.answer.cited if hop.answer else None
    if cited is None:
        return Sentence(f"{hop.question.text} {hop.answer.text if hop.answer else ''}".strip(), (hop.number,))
    text = quoted_sentence(cited)
    if is_described(cited):  # not in the text of the article, so it is no quotation of it
        return Sentence(Code.DESCRIPTION(title=cited.passage.title, text=text), (hop.number,))
    return quotation(cited.passage, text, hop.number)


def quotation(passage: Passage, quote: str, hop: int) -> Sentence:
    return Sentence(f"{passage.title}: “{quote}”" if passage.title else quote, (hop,), quote)
