"""The one text that the local model continues in every role, as it was trained on (research/training).

    Claim: {claim}
    Source: {title}: {passage}
    Source: {title}: {passage}
    Question: {question}
    Answer: {answer, or "not found"}
    Verdict: {true | false | open}
    Question: {question}
    Source: {title}: {passage}
    Answer: {answer}
    Verdict: false
    Explanation: {one sentence}<|im_end|>

The sources of the first question stand before it, so that a reading of claim and sources without questions shares its
beginning. Later sources stand between question and answer. llama.cpp computes each beginning once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.model import Label
from app.text.sentences import content_words, sentences

CLAIM, SOURCE, QUESTION, ANSWER = "Claim:", "Source:", "Question:", "Answer:"
VERDICT, EXPLANATION = "Verdict:", "Explanation:"
REMAINING, CALCULATION = "Remaining:", "Calculation:"
NOT_FOUND, OPEN, SAME, NONE = "not found", "open", "same", "none"
END = "<|im_end|>"
VERDICT_WORDS = {Label.SUPPORTED: "true", Label.REFUTED: "false", Label.NOT_ENOUGH_EVIDENCE: OPEN}

MAX_SOURCE_WORDS = 130
"""Words of a source; the sentences around the one that fits the question best are kept."""
MAX_ANSWER_WORDS = 30


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as the transcript shows it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A question with the sources read for it. `answer` is None where none was found."""

    question: str
    sources: tuple[Source, ...]
    answer: str | None


def opening(claim: str) -> str:
    """Return the claim's line, which every transcript begins with."""
    return f"{CLAIM} {one_line(claim)}\n"


def source_line(source: Source, about: str = "") -> str:
    """Return the source's line, cut to MAX_SOURCE_WORDS around what is nearest to `about`."""
    text = cut(source.text, about)
    return f"{SOURCE} {one_line(source.title)}: {text}\n" if source.title else f"{SOURCE} {text}\n"


def question_line(question: str) -> str:
    return f"{QUESTION} {one_line(question)}\n"


def answer_line(answer: str | None) -> str:
    words = one_line(answer or NOT_FOUND).split()
    return f"{ANSWER} {' '.join(words[:MAX_ANSWER_WORDS])}\n"


def verdict_line(word: str) -> str:
    return f"{VERDICT} {word}\n"


def asked(question: str, sources: Sequence[Source], about: str, is_first: bool) -> str:
    """Return a question with its sources, up to the start of its answer."""
    lines = "".join(source_line(each, about) for each in sources)
    return lines + question_line(question) if is_first else question_line(question) + lines


def transcript(claim: str, steps: Sequence[Step]) -> str:
    """Return the transcript of the steps, up to the verdict after the last one. Verdicts between steps are open."""
    parts = [opening(claim)]
    for place, step in enumerate(steps):
        parts.append(verdict_line(OPEN) if place else "")
        parts.append(asked(step.question, step.sources, f"{step.question} {claim}", is_first=not place))
        parts.append(answer_line(step.answer))
    return "".join(parts)


def before_question(claim: str, steps: Sequence[Step]) -> str:
    return transcript(claim, steps) + (verdict_line(OPEN) if steps else "") + QUESTION


def before_answer(claim: str, steps: Sequence[Step], question: str, sources: Sequence[Source]) -> str:
    begun = transcript(claim, steps) + (verdict_line(OPEN) if steps else "")
    return begun + asked(question, sources, f"{question} {claim}", is_first=not steps) + ANSWER


def before_verdict(claim: str, steps: Sequence[Step]) -> str:
    return transcript(claim, steps) + VERDICT


def before_second_reading(claim: str, sources: Iterable[tuple[Source, str]]) -> str:
    """Return claim and sources without questions and answers, up to the verdict; each source with its `about`."""
    return opening(claim) + "".join(source_line(each, about) for each, about in sources) + VERDICT


def before_remaining(claim: str, question: str, answer: str) -> str:
    """Return claim, question and answer, up to the claim as it reads once the answer is known (or SAME)."""
    return opening(claim) + question_line(question) + answer_line(answer) + REMAINING


def before_calculation(claim: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return claim, questions and answers, up to what the claim says of the answers' numbers (or NONE)."""
    asked_so_far = "".join(question_line(question) + answer_line(answer) for question, answer in pairs)
    return opening(claim) + asked_so_far + CALCULATION


def before_explanation(begun: str, word: str) -> str:
    """Return a transcript that ended before its verdict, with this verdict, up to the start of the explanation."""
    return f"{begun} {word}\n{EXPLANATION}"


def cut(text: str, about: str) -> str:
    """Return at most MAX_SOURCE_WORDS words of `text`: the sentence with most words of `about`, and those around it."""
    if len(text.split()) <= MAX_SOURCE_WORDS:
        return one_line(text)
    found = [one_line(sentence) for sentence in sentences(text)]
    wanted = content_words(about)
    best = max(range(len(found)), key=lambda at: len(content_words(found[at]) & wanted))
    first = last = best
    words = len(found[best].split())
    grows = True
    while grows:
        grows = False
        for at in (first - 1, last + 1):
            if 0 <= at < len(found) and words + len(found[at].split()) <= MAX_SOURCE_WORDS:
                words += len(found[at].split())
                first, last, grows = min(first, at), max(last, at), True
    return " ".join(" ".join(found[first : last + 1]).split()[:MAX_SOURCE_WORDS])


def one_line(text: str) -> str:
    """Return the text on one line and without marks that end a text for the model."""
    return " ".join(re.sub(r"<\|[^|<>]*\|>", " ", text).split())
