"""What verifiers, validators and reasoners share: cited sentences, and the probabilities of the labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.domain.model import Context, Hop, Label, Passage, Span
from app.domain.ports import TranscriptModel
from app.modules.transcript import VERDICT_WORDS, Source, before_second_reading
from app.text.sentences import is_common_word, sentence_spans
from app.text.wording import names, stems

Probabilities = dict[Label, float]


def decision_probability(probabilities: Probabilities) -> float:
    """Return the larger of p(supported) and p(refuted)."""
    return max(probabilities[Label.SUPPORTED], probabilities[Label.REFUTED])


def answer_probability(model: TranscriptModel, question: str, answer: str, passage: Passage) -> float:
    """Return the probability that the passage says that this is the answer. Propagates the model's errors."""
    text = f"{question} {answer}"
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


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def is_grounded(text: str, known: str) -> bool:
    """Return whether each number and each word of a name in `text` is in `known`; "Fewer" at the start is no name."""
    words, numbers = stems(known), set(_NUMBER.findall(known))
    named = [name for name in names(text) if not name[0].isdigit() and not is_common_word(name)]
    return set(_NUMBER.findall(text)) <= numbers and all(stems(name) <= words for name in named)


def unmentioned_name(claim: str, context: Context) -> str:
    """Return the first name in `claim` that shares no word with any answer or passage of the kept hops, or "".

    Numbers do not count as names, because the evidence often lacks the number of a false claim.
    """
    read = frozenset().union(*(stems(text) for hop in context for text in _texts_read(hop)))
    return next((name for name in names(claim) if not name[0].isdigit() and stems(name) and not stems(name) & read), "")


def _texts_read(hop: Hop) -> Iterator[str]:
    answer = hop.answer
    if answer:
        yield answer.text or ""
        for passage in (*answer.retrieved, *((answer.cited.passage,) if answer.cited else ())):
            yield f"{passage.title} {passage.text}"
