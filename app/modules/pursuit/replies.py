"""Parse a language model's replies in an evidence pursuit: a list of questions, or a step. Nothing is guessed.

A question is "the first sentence with a question mark, otherwise the whole output" (Papelo, section 3.1). Only a
heading like "Question 2:" is removed before it, since a question may contain colons of its own.
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
"""A longer text is not usable as a search query."""

_DECISION = re.compile(r"\\?\[\s*\\?\[\s*(true|false)\s*\\?\]\s*\\?\]", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*+|`+")
_HEADING = re.compile(
    r"^(?:[-•#>]+\s*|\d{1,2}[.)]\s+)*"
    r"(?:(?:(?:one|more|another|the|my|a|next|first|follow-up|further|additional)\s+)*question(?:\s*\d+)?\s*[:=]\s*)?",
    re.IGNORECASE,
)
_AROUND = " \t\"“”'‘’[](),"


def questions_from(text: str) -> tuple[Question, ...]:
    """Return the questions of a JSON list of strings, each once; for any other text, the one question in it.

    Raises UnparseableOutput if there is none.
    """
    found = (_cleaned(item) for item in _listed(text))
    listed = dict.fromkeys(item for item in found if _is_askable(item))
    return tuple(Question(item) for item in listed) or (_question_in(text),)


def step_from(text: str) -> Ask | Decide:
    """Return a decision for a text with either [[True]] or [[False]]; with both or neither, return its question.

    A text without brackets that begins with one of the two words, and has no question mark, is a decision too. Raises
    UnparseableOutput for a text that has neither a decision nor a question.
    """
    plain = _EMPHASIS.sub("", text)
    said = {word.casefold() for word in _DECISION.findall(plain)}
    if not said and "?" not in plain and (word := option_in(plain, ("true", "false"))):
        said = {word}
    if len(said) == 1:
        return Decide(said == {"true"})
    return Ask(_question_in(plain))


def question_from_model(text: str) -> Question:
    """Return the question written by a model fine-tuned for it; the question mark may be missing."""
    return _question_in(text)


def _question_in(text: str) -> Question:
    """Return the first sentence with a question mark, otherwise the whole text unless it is one word ("Yes")."""
    lines = [line for line in _EMPHASIS.sub("", text).splitlines() if line.strip()]
    asked = (sentence for line in lines for sentence in _sentences(line) if "?" in sentence)
    first = next((sentence for sentence in asked if not _DECISION.search(sentence)), "")
    whole = " ".join(lines)
    question = _cleaned(first or whole)
    if not _is_askable(question) or (not first and ("[[" in whole or " " not in question)):
        raise UnparseableOutput("The model wrote no question.")
    return Question(question)


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line; one that begins in lower case is joined to the one before it."""
    begun = ""
    for sentence in sentences(line):
        if begun and not sentence[0].islower():
            yield begun
            begun = ""
        begun = f"{begun} {sentence}".strip()
    if begun:
        yield begun


def _cleaned(text: str) -> str:
    """Return the question on one line, up to its question mark, without heading, quotes or brackets around it."""
    line = _HEADING.sub("", " ".join(_EMPHASIS.sub("", text).split()).lstrip(_AROUND)).strip(_AROUND)
    head, mark, _ = line.rpartition("?")
    return head + mark if mark else line


def _is_askable(text: str) -> bool:
    short = len(text.split()) <= MAX_WORDS and len(text) <= MAX_CHARACTERS
    return short and any(letter.isalnum() for letter in text) and not declines(text)


def _listed(text: str) -> list[str]:
    """Return the strings of the first JSON list that contains any, ignoring surrounding text and code fences."""
    for start in (match.start() for match in re.finditer(r"\[", text)):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if found := [item for item in value if isinstance(item, str)]:
            return found
    return []
