"""The local paraphraser: a small model's paraphrases that keep the meaning, then the claim itself as a question.

A small model often drops the subject of a question or asks for something else. A paraphrase is used only if it has the
same names and content words as the question, and either expects the same type of answer ("In which city ...?" for
"Where ...?") or begins with "What is the". Yes/no questions are not paraphrased, since a swap of subject and object
("Was he endorsed by them?") keeps all words and changes the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Claim, Question
from app.domain.ports import Completer
from app.modules.output_parsing import question_from
from app.modules.prompting import demonstrations, template
from app.text.wording import expected_answer_type, names, normalised, stems, word_lists

MAX_TOKENS = 32
_WHAT_IS_THE = re.compile(r"what (?:is|was|are|were) the\b", re.IGNORECASE)
OPENINGS = ("", "What", "Which", "In")
"""Beginnings of a paraphrase, given to the model one after another; without one it often repeats the question."""


@dataclass(frozen=True)
class LocalParaphraser:
    """Implements `Paraphraser` over any `Completer`. Propagates its errors; holds no state."""

    model: Completer

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]:
        """Return at most `n` different questions, the model's paraphrases first."""
        report_phase(Code.REWORDING())
        seen, found = {normalised(question.text)}, list[Question]()
        for text in self._candidates(claim, question):
            if len(found) == n:
                break
            if normalised(text) not in seen:
                seen.add(normalised(text))
                found.append(Question(text))
        return tuple(found)

    def _candidates(self, claim: Claim, question: Question) -> Iterator[str]:
        for opening in OPENINGS if expected_answer_type(question.text) else ():
            text = self._paraphrase(question, opening)
            if text and keeps_meaning(question.text, text):
                yield text
        yield claim_as_question(claim)

    def _paraphrase(self, question: Question, opening: str) -> str | None:
        text = self.model.complete(f"{prompt_for(question)} {opening}".rstrip(), max_tokens=MAX_TOKENS, stop=("\n",))
        try:
            return question_from(f"{opening} {text.strip()}" if opening else text).text
        except UnparseableOutput:
            return None


def prompt_for(question: Question) -> str:
    """Return the prompt: the demonstrations and this question, up to the start of the paraphrase."""
    shown = (f"{_fill_template(each['question'])} {each['same']}\n\n" for each in demonstrations("same_question"))
    return "".join(shown) + _fill_template(" ".join(question.text.split()))


def keeps_meaning(question: str, wording: str) -> bool:
    """Return whether a wording has the names and content words of the question and asks for the same kind of answer.

    A wording that begins with "What is the" may ask for any kind; nouns of a kind, such as "city", may differ.
    """
    same_words = stems(question) - _kinds() == stems(wording) - _kinds()
    if not expected_answer_type(question) or not same_words or _names(question) != _names(wording):
        return False
    return expected_answer_type(wording) == expected_answer_type(question) or bool(_WHAT_IS_THE.match(wording))


def claim_as_question(claim: Claim) -> str:
    """Return the yes/no question whether the claim is true. Only a function word at its start loses its capital."""
    text = " ".join(claim.text.split()).rstrip(" .!?")
    first, _, rest = text.partition(" ")
    if first.casefold() in word_lists()["functional"]:
        text = f"{first.casefold()} {rest}".strip()
    return f"Is it true that {text}?"


def _names(text: str) -> frozenset[str]:
    return frozenset(normalised(name) for name in names(text))


def _kinds() -> frozenset[str]:
    return stems(" ".join(word_lists()["kind_nouns"]))


def _fill_template(question: str) -> str:
    return template("same_question").substitute(question=question)
