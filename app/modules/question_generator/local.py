"""Q, the question generator (QACheck, section 3.2), and the explanation of a verdict, by one small model.

A small model with an adapter of ours (research/training/question_model.py) continues a transcript of the run: it writes
the next question, or the verdict's line when no question is needed. Around it are filters: a question must be new, be a
question, and name only what the claim or an answer named. Where none passes, articles that the searches have shown
and the claim names are looked up. After the verdict the same model continues the transcript with one sentence of
explanation, which is given only if its names and numbers are in the claim or the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from app.domain.model import Claim, Context, Hop, HopStatus, Label, Question
from app.domain.ports import Completer
from app.domain.progress import entered
from app.modules.wording import bare_title, names, same_question, stems

MAX_TOKENS = 40
MAX_ANSWER_CHARACTERS = 120
NOT_FOUND = "not found"
QUESTION, VERDICT, EXPLANATION = "Question:", "Verdict:", "Explanation:"
VERDICT_WORDS = {Label.SUPPORTED: "true", Label.REFUTED: "false"}
OPENINGS = ("", "Which", "Who", "When", "Where", "What", "How")
"""Ways to make the model begin its question, tried in order until a question passes the filters."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class LocalQuestionGenerator:
    """Implements `QuestionGenerator`. Raises what the model raises; holds no state."""

    model: Completer
    demonstrations: str = ""
    """Transcripts put before the run's own, for a model without our adapter."""

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """The first proposal that passes the filters; None where the model says that the kept pairs are enough."""
        entered("thinking of a question")
        hops = sorted((*context, *set_aside), key=lambda hop: hop.number)
        prompt = self.demonstrations + transcript(claim, hops)
        if hops and hops[-1].status is HopStatus.KEPT and self._continue(prompt, "").startswith(VERDICT):
            return None
        for text in chain(self._proposals(prompt), look_ups(claim, hops)):
            if is_askable(text, claim, hops):
                return Question(text)
        return None

    def warm(self) -> None:
        """Ask once, so that the model is loaded and the first visitor does not wait for it."""
        self._continue(self.demonstrations + transcript(Claim("Warsaw lies in Poland."), ()), QUESTION)

    def _proposals(self, prompt: str) -> Iterator[str]:
        for opening in OPENINGS:
            begun = f" {opening}" if opening else ""
            yield f"{opening}{self._continue(prompt, f'{QUESTION}{begun}')}".strip()

    def _continue(self, prompt: str, begun: str) -> str:
        return self.model.complete(prompt + begun, max_tokens=MAX_TOKENS, stop=("\n",))


@dataclass(frozen=True)
class LocalExplainer:
    """Says in a sentence why a claim is supported or refuted. Raises what the model raises."""

    model: Completer

    def explain(self, claim: Claim, context: Context, label: Label, evidence: str) -> str | None:
        """Return the model's sentence; None if it names what neither claim nor `evidence` does."""
        if label not in VERDICT_WORDS:
            return None
        prompt = f"{transcript(claim, context)}{VERDICT} {VERDICT_WORDS[label]}\n{EXPLANATION}"
        text = self.model.complete(prompt, max_tokens=MAX_TOKENS, stop=("\n", "<|im_end|>")).strip()
        return text if text.endswith(".") and is_grounded(text, f"{claim.text} {evidence}") else None


def is_grounded(text: str, known: str) -> bool:
    """Whether each word of the names in `text`, and each number, is in `known`."""
    said, words = stems(known), set(_NUMBER.findall(known))
    return set(_NUMBER.findall(text)) <= words and all(stems(name) <= said for name in names(text))


def transcript(claim: Claim, hops: Sequence[Hop]) -> str:
    """The run so far as the model was trained to read it; a hop that was set aside has no answer."""
    pairs = "".join(f"{QUESTION} {hop.question.text}\nAnswer: {_answer(hop)}\n" for hop in hops)
    return f"Claim: {' '.join(claim.text.split())}\n{pairs}"


def is_askable(question: str, claim: Claim, hops: Sequence[Hop]) -> bool:
    """Whether it is a new question, and each name in it shares a word with the claim, an answer or a cited title."""
    if not question.endswith("?") or len(question.split()) < 3:
        return False
    if any(same_question(question, hop.question.text) for hop in hops):
        return False
    known = stems(claim.text).union(*(stems(text) for hop in hops for text in _brought(hop)))
    return bool(known & stems(question)) and all(stems(name) & known for name in names(question))


def look_ups(claim: Claim, hops: Sequence[Hop]) -> Iterator[str]:
    """Questions about articles that were found and that the claim names, best first; without hops, about its names."""
    cited = {hop.answer.cited.passage.title for hop in hops if hop.answer and hop.answer.cited}
    said = stems(claim.text)
    for hop in hops:
        for passage in hop.answer.retrieved if hop.answer else ():
            title = bare_title(passage.title)
            if passage.title not in cited and stems(title) and stems(title) <= said:
                yield f"What is {title}?"
    if not hops:
        yield from (f"What is {name}?" for name in names(claim.text))


def _answer(hop: Hop) -> str:
    text = hop.answer.text if hop.answer and hop.status is HopStatus.KEPT else None
    return " ".join((text or NOT_FOUND).split())[:MAX_ANSWER_CHARACTERS]


def _brought(hop: Hop) -> Iterator[str]:
    if hop.answer and hop.status is HopStatus.KEPT:
        yield hop.answer.text or ""
        if hop.answer.cited:
            yield hop.answer.cited.passage.title
