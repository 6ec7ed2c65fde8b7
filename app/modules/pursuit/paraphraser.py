"""Paraphraser without an API key: a small model's accepted wordings, then the claim itself as a question.

A small model omits the subject of a question, or asks for something else. Its wording is accepted only if it has the
same names, keeps every content word and adds none, and asks for the same kind of thing ("In which city ...?" for
"Where ...?") or begins with "What is the ..." ("What is the birthplace of ...?"). No wording of a yes/no question is
accepted: the check ignores word order, which can reverse its meaning ("Was he endorsed by them?").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.errors import UnparseableOutput
from app.domain.model import Claim, Question
from app.domain.ports import Completer
from app.domain.progress import entered
from app.modules.output_parsing import question_from
from app.modules.prompts import data, template
from app.modules.question_generator.rules import proposals
from app.modules.wording import asked_for, names, normalised, stems
from app.text.common_words import is_common_word

MAX_TOKENS = 32
_WHAT_IS_THE = re.compile(r"what (?:is|was|are|were) the\b", re.IGNORECASE)
OPENINGS = ("", "What", "Which", "In")
"""Openings given to the model, one after another; without one it repeats the question."""


@dataclass(frozen=True)
class LocalParaphraser:
    """Implements `Paraphraser` over any `Completer`. Propagates errors of the completer; holds no state."""

    model: Completer

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]:
        """Return at most `n` different questions, the model's wordings first."""
        entered("putting the question in other words")
        found: dict[str, Question] = {normalised(question.text): question}
        for text in self._candidates(claim, question):
            if len(found) > n:
                break
            found.setdefault(normalised(text), Question(text))
        return tuple(found.values())[1:]

    def _candidates(self, claim: Claim, question: Question) -> Iterator[str]:
        for opening in OPENINGS if asked_for(question.text) else ():
            text = self._reworded(question, opening)
            if text and holds_up(question.text, text):
                yield text
        yield claim_as_question(claim)
        yield from (each.text for each in proposals(claim, ()) if not _looks_up(each.text))

    def _reworded(self, question: Question, opening: str) -> str | None:
        """Return the model's wording that begins with `opening`, or None if it wrote no question."""
        text = self.model.complete(f"{prompt_for(question)} {opening}".rstrip(), max_tokens=MAX_TOKENS, stop=("\n",))
        try:
            return question_from(f"{opening} {text.strip()}" if opening else text).text
        except UnparseableOutput:
            return None


def prompt_for(question: Question) -> str:
    """Return the demonstrations and this question, up to the start of its other wording."""
    shown = (f"{_filled(each['question'])} {each['same']}\n\n" for each in data("same_question"))
    return "".join(shown) + _filled(" ".join(question.text.split()))


def holds_up(question: str, wording: str) -> bool:
    """Return whether a wording asks the same as the question, judged by their words."""
    same_words = stems(question) - _kinds() == stems(wording) - _kinds()
    if not asked_for(question) or not same_words or _named(question) != _named(wording):
        return False
    return asked_for(wording) == asked_for(question) or bool(_WHAT_IS_THE.match(wording))


def claim_as_question(claim: Claim) -> str:
    """Return the claim's own wording, turned into a question."""
    text = " ".join(claim.text.split()).rstrip(" .!?")
    first, _, rest = text.partition(" ")
    if not _opens_with_a_name(text):
        text = f"{first.casefold()} {rest}".strip()
    return f"Is it true that {text}?"


def _opens_with_a_name(text: str) -> bool:
    """Return whether the first word is capitalised as a name ("Bill Gates", "US troops"), not by its position."""
    first = text.partition(" ")[0]
    if first.casefold() in data("words")["functional"]:
        return False
    longer = any(" " in name and text.startswith(name) for name in names(text))
    return longer or (len(first) > 1 and first.isupper()) or not is_common_word(first)


def _looks_up(question: str) -> bool:
    """Return whether the question only looks a name up, as "Who was Frida Kahlo?" does."""
    return stems(question) <= stems(" ".join(names(question)))


def _named(text: str) -> frozenset[str]:
    return frozenset(normalised(name) for name in names(text))


def _kinds() -> frozenset[str]:
    """Return the stems of nouns that only name the kind of thing asked for."""
    return stems(" ".join(data("words")["kind_nouns"]))


def _filled(question: str) -> str:
    return template("same_question").substitute(question=question)
