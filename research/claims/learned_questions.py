"""A candidate for the question generator: a small model with an adapter of ours, measured against the default.

The model (research/training/question_model.py) continues a transcript of the run: it writes the next question, or the
verdict's line when no question is needed. A question is asked if it is new and names only what the claim or an answer
named. Where none passes, articles that the searches have shown and the claim names are looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from app.backends.local.llama_cpp import packaged_gguf, parameters
from app.domain.errors import CallFailed
from app.domain.model import Claim, Context, Hop, HopStatus, Question
from app.domain.ports import Completer
from app.domain.progress import entered
from app.modules.wording import bare_title, names, same_question, stems

MAX_TOKENS = 40
MAX_ANSWER_CHARACTERS = 120
NOT_FOUND = "not found"
QUESTION, VERDICT = "Question:", "Verdict:"
OPENINGS = ("", "Which", "Who", "When", "Where", "What", "How")
"""Ways to make the model begin its question, tried in order until a question passes the filters."""


class AdaptedModel:
    """Implements `Completer`: the packaged SmolLM2 in llama.cpp with a LoRA adapter in GGUF."""

    def __init__(self, adapter: Path, threads: int = 2) -> None:
        """Load the model. Raises ModelUnavailable where SmolLM2 is not installed."""
        import xllamacpp

        params = parameters(packaged_gguf(), threads)
        lora = xllamacpp.CommonAdapterLoraInfo()
        lora.path, lora.scale = str(adapter), 1.0
        params.lora_adapters = [lora]
        self._server = xllamacpp.Server(params)

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        """Return the greedy continuation. Raises CallFailed when there is none."""
        request = {"prompt": prompt, "n_predict": max_tokens, "temperature": 0, "stop": list(stop)}
        reply = self._server.handle_completions({**request, "cache_prompt": True})
        if "choices" not in reply:
            raise CallFailed("The question model gave no text.")
        text: str = reply["choices"][0]["text"]
        return text


@dataclass(frozen=True)
class LearnedQuestions:
    """Implements `QuestionGenerator`. Raises what the model raises; holds no state."""

    model: Completer

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """The first proposal that passes the filters; None where the model says that the kept pairs are enough."""
        entered("thinking of a question")
        hops = sorted((*context, *set_aside), key=lambda hop: hop.number)
        prompt = transcript(claim, hops)
        if hops and hops[-1].status is HopStatus.KEPT and self._continue(prompt, "").startswith(VERDICT):
            return None
        for text in chain(self._proposals(prompt), look_ups(claim, hops)):
            if is_askable(text, claim, hops):
                return Question(text)
        return None

    def _proposals(self, prompt: str) -> Iterator[str]:
        for opening in OPENINGS:
            begun = f" {opening}" if opening else ""
            yield f"{opening}{self._continue(prompt, f'{QUESTION}{begun}')}".strip()

    def _continue(self, prompt: str, begun: str) -> str:
        return self.model.complete(prompt + begun, max_tokens=MAX_TOKENS, stop=("\n",))


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
    """Questions about articles that were found and that the claim names, best first, but for cited ones."""
    cited = {hop.answer.cited.passage.title for hop in hops if hop.answer and hop.answer.cited}
    said = stems(claim.text)
    for hop in hops:
        for passage in hop.answer.retrieved if hop.answer else ():
            title = bare_title(passage.title)
            if passage.title not in cited and stems(title) and stems(title) <= said:
                yield f"What is {title}?"


def _answer(hop: Hop) -> str:
    text = hop.answer.text if hop.answer and hop.status is HopStatus.KEPT else None
    return " ".join((text or NOT_FOUND).split())[:MAX_ANSWER_CHARACTERS]


def _brought(hop: Hop) -> Iterator[str]:
    if hop.answer and hop.status is HopStatus.KEPT:
        yield hop.answer.text or ""
        if hop.answer.cited:
            yield hop.answer.cited.passage.title
