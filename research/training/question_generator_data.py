"""Read claims with people's questions about them as examples for the two question models of an evidence pursuit.

A row has one of two formats: AVeriTeC's (`questions` with `answers`), or a plain one with `hops`, a list of
{"question", "answer"}. AVeriTeC is non-commercial: weights trained on it never ship with Hopcheck.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.modules.pursuit import first_input, next_input
from research.evaluation.datasets import UNANSWERABLE
from research.training.files import list_in, rows_of, text_in
from research.training.held_out import is_held_out

log = logging.getLogger(__name__)

Hops = tuple[tuple[str, str | None], ...]
"""(question, answer) pairs in the order asked; the answer is None where none was found."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A claim and the questions about it; held out by a hash of the claim."""

    claim: str
    hops: Hops

    @property
    def held_out(self) -> bool:
        return is_held_out(self.claim)


@dataclass(frozen=True, slots=True)
class Example:
    """An input of a question model and the question to learn."""

    source: str
    target: str
    shorter: tuple[str, ...] = ()
    """The same input without its oldest pairs, in case it exceeds the window."""


def read_asked(path: Path) -> list[Asked]:
    """Return every row with a question. Raises InvalidInput with the first invalid line."""
    rows = rows_of(path, _asked)
    kept = [row for row in rows if row.hops]
    if not kept:
        raise InvalidInput(f"{path.name} holds no question: there is nothing to train on.", "data")
    if len(kept) < len(rows):
        log.info("%d rows of %s have no question about a claim and are left out", len(rows) - len(kept), path.name)
    return kept


def _asked(row: dict[str, Any]) -> Asked:
    if ("hops" in row) == ("questions" in row):
        found = "both hops and" if "hops" in row else "no hops and no"
        raise ValueError(f"{found} questions; a row has one of the two")
    if "hops" in row:
        return Asked(_line(row, "claim"), tuple(_plain(row)))
    # AVeriTeC's published files have a row without a claim, one without questions, and an empty question.
    if row.get("claim") == "":
        return Asked("", ())  # left out by read_asked
    return Asked(_line(row, "claim"), tuple(_averitec(row)))


def _plain(row: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    for hop in list_in(row, "hops"):
        yield _line(hop, "question"), _line(hop, "answer") if hop.get("answer") is not None else None


def _averitec(row: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield each question with its first answer, to which the explanation of a yes or no belongs."""
    for asked in list_in(row, "questions") if row["questions"] else []:
        if asked.get("question") == "":
            continue
        answers = list_in(asked, "answers") if asked.get("answers") else []
        answered = [each for each in answers if each.get("answer_type") != UNANSWERABLE][:1]
        answer = [
            _line(each, field) for each in answered for field in _ANSWER_FIELDS if field == "answer" or each.get(field)
        ]
        yield _line(asked, "question"), ". ".join(part.strip(" .") for part in answer) or None


_ANSWER_FIELDS = ("answer", "boolean_explanation")


def _line(row: dict[str, Any], field: str) -> str:
    """Return the text on one line, as at inference."""
    return " ".join(text_in(row, field).split())


def first_examples(asked: Sequence[Asked]) -> Iterator[Example]:
    """Yield each claim with the first question about it."""
    for each in asked:
        yield Example(first_input(each.claim), each.hops[0][0])


def next_examples(asked: Sequence[Asked]) -> Iterator[Example]:
    """Yield each claim with its answered pairs so far and the next question, from the first answered pair on."""
    for each in asked:
        for at in range(1, len(each.hops)):
            pairs = [(question, answer) for question, answer in each.hops[:at] if answer]
            if pairs:
                sources = [next_input(each.claim, pairs[left:]) for left in range(len(pairs))]
                yield Example(sources[0], each.hops[at][0], tuple(sources[1:]))


def data_hash(asked: Sequence[Asked]) -> str:
    """Return a short hash of the rows, in order, for the model card."""
    digest = hashlib.sha256()
    for each in asked:
        digest.update(repr((each.claim, each.hops)).encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]
