"""The paraphraser with no key: a small model's wordings where they hold up, then the claim's own wording as a question.

A small model leaves out what a question is about, or asks for something else. Its wording counts only when it names
what the question names and nothing else, keeps every word that carries meaning and adds none, and asks for the same
kind of thing ("In which city ...?" for "Where ...?"), or for "what is the ..." ("What is the birthplace of ...?"). Of a
yes/no question none counts: which way round it is told ("Was he endorsed by them?") is all that it asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import entered
from app.domain.model import Claim, Question
from app.domain.ports import Completer
from app.modules.output_parsing import question_from
from app.modules.prompting import data, template
from app.text.sentences import is_common_word
from app.text.wording import asked_for, names, normalised, stems, word_lists

MAX_TOKENS = 32
_WHAT_IS_THE = re.compile(r"what (?:is|was|are|were) the\b", re.IGNORECASE)
OPENINGS = ("", "What", "Which", "In")
"""Beginnings that are given to the model in turn; without one it repeats the question."""


@dataclass(frozen=True)
class LocalParaphraser:
    """Implements `Paraphraser` over any `Completer`. Raises what the completer raises; holds no state."""

    model: Completer

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]:
        """At most `n` questions, the model's wordings first, no two of them the same."""
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

    def _reworded(self, question: Question, opening: str) -> str | None:
        """The model's wording that begins with `opening`, or None when it wrote no question."""
        text = self.model.complete(f"{prompt_for(question)} {opening}".rstrip(), max_tokens=MAX_TOKENS, stop=("\n",))
        try:
            return question_from(f"{opening} {text.strip()}" if opening else text).text
        except UnparseableOutput:
            return None


def prompt_for(question: Question) -> str:
    """The demonstrations and this question, up to where its other wording begins."""
    shown = (f"{_filled(each['question'])} {each['same']}\n\n" for each in data("same_question"))
    return "".join(shown) + _filled(" ".join(question.text.split()))


def holds_up(question: str, wording: str) -> bool:
    """Return whether a wording asks what the question asks, as far as its words tell."""
    same_words = stems(question) - _kinds() == stems(wording) - _kinds()
    if not asked_for(question) or not same_words or _named(question) != _named(wording):
        return False
    return asked_for(wording) == asked_for(question) or bool(_WHAT_IS_THE.match(wording))


def claim_as_question(claim: Claim) -> str:
    """The claim's own wording, turned into a question."""
    text = " ".join(claim.text.split()).rstrip(" .!?")
    first, _, rest = text.partition(" ")
    if not _opens_with_a_name(text):
        text = f"{first.casefold()} {rest}".strip()
    return f"Is it true that {text}?"


def _opens_with_a_name(text: str) -> bool:
    """Return whether the first word is a name ("Bill Gates", "US troops") and not only the sentence's opening."""
    first = text.partition(" ")[0]
    if first.casefold() in word_lists()["functional"]:
        return False
    longer = any(" " in name and text.startswith(name) for name in names(text))
    return longer or (len(first) > 1 and first.isupper()) or not is_common_word(first)


def _named(text: str) -> frozenset[str]:
    return frozenset(normalised(name) for name in names(text))


def _kinds() -> frozenset[str]:
    """The stems of nouns that only say what kind of thing is asked for."""
    return stems(" ".join(word_lists()["kind_nouns"]))


def _filled(question: str) -> str:
    return template("same_question").substitute(question=question)
