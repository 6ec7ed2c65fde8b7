"""What a language model replies in an evidence pursuit: a list of questions, or a step. Nothing is guessed.

A question is "the first sentence with a question mark, otherwise the whole output" (Papelo, section 3.1). Of what
stands before it only a heading like "Question 2:" is taken away: what is asked may hold colons of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from app.domain.errors import UnparseableOutput
from app.domain.model import Question
from app.domain.ports import Ask, Decide
from app.modules.output_parsing import declines
from app.text.options import option_in
from app.text.sentences import sentences

MAX_WORDS, MAX_CHARACTERS = 60, 400
"""A longer text is an essay and nothing to search for."""

_DECISION = re.compile(r"\\?\[\s*\\?\[\s*(true|false)\s*\\?\]\s*\\?\]", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*+|`+")
_HEADING = re.compile(
    r"^(?:[-•#>]+\s*|\d{1,2}[.)]\s+)*"
    r"(?:(?:(?:one|more|another|the|my|a|next|first|follow-up|further|additional)\s+)*question(?:\s*\d+)?\s*[:=]\s*)?",
    re.IGNORECASE,
)
_AROUND = " \t\"“”'‘’[](),"


def questions_from(text: str) -> tuple[Question, ...]:
    """The questions of a JSON list of strings, each once; of any other text the one question that it holds.

    Raises UnparseableOutput when there is none.
    """
    found = (_cleaned(item) for item in _listed(text))
    listed = dict.fromkeys(item for item in found if _is_askable(item))
    return tuple(Question(item) for item in listed) or (_question_in(text),)


def step_from(text: str) -> Ask | Decide:
    """[[True]] or [[False]] is a decision; both, or neither, is none, and the question is what counts.

    Without brackets a text that begins with one of the two words, and asks nothing, decides as well. Raises
    UnparseableOutput for a text that neither decides nor asks.
    """
    plain = _EMPHASIS.sub("", text)
    said = {word.casefold() for word in _DECISION.findall(plain)}
    if not said and "?" not in plain and (word := option_in(plain, ("true", "false"))):
        said = {word}
    if len(said) == 1:
        return Decide(said == {"true"})
    return Ask(_question_in(plain))


def question_from_model(text: str) -> Question:
    """The question that a model fine-tuned to write one has written; it may lack its question mark."""
    return _question_in(text)


def _question_in(text: str) -> Question:
    """The first sentence with a question mark, otherwise the whole text; a word alone ("Yes") is none."""
    lines = [line for line in _EMPHASIS.sub("", text).splitlines() if line.strip()]
    asked = (sentence for line in lines for sentence in _sentences(line) if "?" in sentence)
    first = next((sentence for sentence in asked if not _DECISION.search(sentence)), "")
    whole = " ".join(lines)
    question = _cleaned(first or whole)
    if not _is_askable(question) or (not first and ("[[" in whole or " " not in question)):
        raise UnparseableOutput("The model wrote no question.")
    return Question(question)


def _sentences(line: str) -> Iterator[str]:
    """The sentences of a line; one that begins with a small letter goes on with the one before it."""
    begun = ""
    for sentence in sentences(line):
        if begun and not sentence[0].islower():
            yield begun
            begun = ""
        begun = f"{begun} {sentence}".strip()
    if begun:
        yield begun


def _cleaned(text: str) -> str:
    """The question on one line, up to its question mark, without what a model puts around it."""
    line = _HEADING.sub("", " ".join(_EMPHASIS.sub("", text).split()).lstrip(_AROUND)).strip(_AROUND)
    head, mark, _ = line.rpartition("?")
    return head + mark if mark else line


def _is_askable(text: str) -> bool:
    short = len(text.split()) <= MAX_WORDS and len(text) <= MAX_CHARACTERS
    return short and any(letter.isalnum() for letter in text) and not declines(text)


def _listed(text: str) -> list[str]:
    """The strings of the first JSON list that holds one, in whatever text and fences it stands."""
    for start in (match.start() for match in re.finditer(r"\[", text)):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if found := [item for item in value if isinstance(item, str)]:
            return found
    return []
