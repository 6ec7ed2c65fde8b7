"""Read data sets of labelled claims, in JSON Lines or as a JSON array, into rows of one type.

Released files are read unchanged (official.py). In Hopcheck's own form a row has `id`, `claim` and `label`. Its gold
evidence is `evidence`, a list of {title, text}, or `questions`, a list of {question, answers: [{answer, ...}]}.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from app.domain.errors import InvalidInput
from research.evaluation.labels import Gold, gold_label
from research.evaluation.official import SQUAD, release_of, to_own_form

T = TypeVar("T")


def read_objects(path: Path, convert: Callable[[dict[str, Any], int], T], *, field: str, empty: str) -> list[T]:
    """Return `convert(object, number)` for each JSON object of the file, in order.

    The number is that of its line, or of its row in an array, from 1. `convert` raises ValueError, with a message for
    users, for an invalid object. Raises InvalidInput for `field`, with the first fault and the number of faults, or
    ending with `empty` for a file without rows.
    """
    rows: list[T] = []
    errors: list[str] = []
    for number, unit, parse in _numbered_objects(path, field):
        try:
            rows.append(convert(parse(), number))
        except ValueError as error:
            errors.append(f"{path.name}, {unit} {number}: {error}")
    if errors:
        others = f" ({unit}s at fault in all: {len(errors)})" if len(errors) > 1 else ""
        raise InvalidInput(f"{errors[0]}{others}.", field)
    if not rows:
        raise InvalidInput(f"{path.name} is empty: {empty}.", field)
    return rows


NumberedObject = tuple[int, str, Callable[[], dict[str, Any]]]
"""A row's number from 1, what it is ("line" or "row"), and a function that returns its object or raises ValueError."""


def _numbered_objects(path: Path, field: str) -> Iterator[NumberedObject]:
    """Yield the rows of a file. It is read as bytes, so that an error message can name a line that is not UTF-8."""
    try:
        with path.open("rb") as file:
            if next((line for line in file if line.strip()), b"").lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
                yield from _read_array(path, field)
                return
            file.seek(0)
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, "line", partial(_parse_object, line)
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}.", field) from error


def _read_array(path: Path, field: str) -> Iterator[NumberedObject]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = "no UTF-8, or too deep"
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg}, line {error.lineno}"
        raise InvalidInput(
            f"{path.name} begins as a JSON array and is none that can be read ({reason}).", field
        ) from None
    for number, each in enumerate(found, 1):
        yield number, "row", partial(_check_object, each)


def _parse_object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg})") from None
    except RecursionError:
        raise ValueError("not JSON that can be read (nested too deeply)") from None
    return _check_object(found)


def _check_object(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError("no JSON object; one row a line is wanted, or an array of rows")
    return found


UNANSWERABLE = "Unanswerable"
"""AVeriTeC's answer type for a question without an answer; the answer's text says so."""
BOOLEAN = "Boolean"
"""AVeriTeC's answer type for yes and no."""


@dataclass(frozen=True, slots=True)
class Row:
    """A claim with its label and its gold evidence."""

    id: str
    claim: str
    label: Gold
    passages: tuple[tuple[str, str], ...] = ()  # (title, text); the text is "" where a release only names the page
    answers: tuple[tuple[str, str | None], ...] = ()  # (question, answer); None for an unanswerable question
    hops: int | None = None
    group: str | None = None  # rows of a group must not be split between training and evaluation
    speaker: str = ""
    date: str = ""  # day of the claim, as the data set writes it
    scored_questions: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (question, answers), verbatim for AVeriTeC's score
    justification: str = ""
    types: tuple[str, ...] = ()  # AVeriTeC's claim types
    beyond_sentences: bool = False  # whether the evidence has other parts than sentences, such as tables

    @property
    def has_evidence(self) -> bool:
        """Return whether there is a passage with text or an answer."""
        return any(text for _, text in self.passages) or any(answer for _, answer in self.answers)


@dataclass(frozen=True, slots=True)
class Format:
    """The fields that every row of a format has besides id, claim and label, and its labels."""

    fields: tuple[str, ...]
    labels: tuple[Gold, ...]


FORMATS = {
    "claims": Format((), tuple(Gold)),
    "hover": Format(("evidence", "hops"), (Gold.SUPPORTED, Gold.NOT_SUPPORTED)),
    "feverous": Format(("evidence", "challenge"), (Gold.SUPPORTED, Gold.REFUTED, Gold.NOT_ENOUGH_EVIDENCE)),
    "averitec": Format(
        ("questions",),
        (Gold.SUPPORTED, Gold.REFUTED, Gold.NOT_ENOUGH_EVIDENCE, Gold.CONFLICTING_EVIDENCE),
    ),
}


def read_rows(path: Path, format_name: str) -> list[Row]:
    """Return the rows of the file in order, without the empty rows of a release.

    Raises InvalidInput with the first fault and the number of faults, or with the right format.
    """
    number_of: dict[str, int] = {}

    def convert(found: dict[str, Any], number: int) -> Row | None:
        own = _to_own_form(found, number - 1, format_name)
        if own is None:
            return None
        row = _parse_row(own, format_name)
        if row.id in number_of:
            raise ValueError(f"the id {row.id!r} is already used by number {number_of[row.id]}")
        number_of[row.id] = number
        return row

    rows = read_objects(path, convert, field="file", empty="there is nothing to measure")
    return [row for row in rows if row is not None]


def read_released(path: Path, format_name: str) -> list[dict[str, Any]]:
    """Return the rows of a released file in Hopcheck's own form. Raises InvalidInput as `read_rows` does."""
    rows = read_objects(
        path, lambda found, number: _to_own_form(found, number - 1, format_name), field="file", empty="it has no row"
    )
    return [row for row in rows if row is not None]


def _to_own_form(found: dict[str, Any], place: int, format_name: str) -> dict[str, Any] | None:
    """Return the row in Hopcheck's own form. Raises ValueError for another format, which its message names."""
    release = SQUAD if set(found) == {"version", "data"} or set(found) == {"data"} else release_of(found)
    if release == SQUAD:
        raise ValueError("this is SQuAD's release, which has no claims: it trains readers")
    if release and release != format_name:
        raise ValueError(f"this is a row of the format {release}, not {format_name}: give --format {release}")
    return to_own_form(found, place)


def _parse_row(found: dict[str, Any], format_name: str) -> Row:
    form = FORMATS[format_name]
    for field in ("id", "claim", "label", *form.fields):
        if found.get(field) is None:
            wanted = ", ".join(("id", "claim", "label", *form.fields))
            raise ValueError(f"no {field}; a row of the format {format_name} has {wanted}")
    if not isinstance(found["id"], str | int):
        raise ValueError("an id that is neither text nor a number")
    questions = _list(found, "questions")
    return Row(
        _text(str(found["id"]), "id"),
        _text(found["claim"], "claim"),
        _parse_label(found["label"], format_name),
        tuple(_parse_passage(part) for part in _list(found, "evidence")),
        tuple(pair for part in questions for pair in _parse_pairs(part)),
        _parse_hops(found.get("hops")),
        str(found["group"]) if found.get("group") is not None else None,
        _optional_text(found, "speaker"),
        _optional_text(found, "date"),
        tuple(
            (part["question"], tuple(_verbatim_answer(answer) for answer in _list(part, "answers")))
            for part in questions
        ),
        _optional_text(found, "justification"),
        tuple(str(each) for each in _list(found, "claim_types")),
        bool(found.get("tables")),
    )


def _parse_label(written: Any, format_name: str) -> Gold:
    label = gold_label(_text(written, "label"))
    if label not in FORMATS[format_name].labels:
        known = ", ".join(FORMATS[format_name].labels)
        raise ValueError(f"the label {written!r} is unknown in the format {format_name}, which has {known}")
    return label


def _parse_passage(part: Any) -> tuple[str, str]:
    """Return (title, text). Either may be empty: some releases name pages without their text."""
    if not isinstance(part, dict) or not isinstance(part.get("title", ""), str):
        raise ValueError("evidence that is no {title, text}")
    if part.get("title") and part.get("text", "") is None:
        return part["title"], ""
    return part.get("title", ""), _text(part.get("text"), "text of its evidence")


def _parse_pairs(part: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the question with each of its answers, a yes or no with its explanation."""
    if not isinstance(part, dict):
        raise ValueError("questions that are no {question, answers}")
    question, answers = _text(part.get("question"), "text of its question"), _list(part, "answers")
    if not answers:
        yield question, None
    for answer in answers:
        if not isinstance(answer, dict):
            raise ValueError("answers that are no {answer}")
        parts = [_text(answer.get("answer"), "answer to its question")]
        if answer.get("boolean_explanation"):
            parts.append(_text(answer["boolean_explanation"], "explanation of its answer"))
        is_unanswerable = answer.get("answer_type") == UNANSWERABLE
        yield question, None if is_unanswerable else ". ".join(each.strip(" .") for each in parts)


def _verbatim_answer(answer: dict[str, Any]) -> str:
    explained = answer.get("boolean_explanation") if answer.get("answer_type") == BOOLEAN else None
    return f"{answer['answer']}. {explained}" if explained else answer["answer"]


def _list(found: dict[str, Any], field: str) -> list[Any]:
    parts = found.get(field) or []
    if not isinstance(parts, list):
        raise ValueError(f"{field}, which is no list")
    return parts


def _parse_hops(written: Any) -> int | None:
    if written is None:
        return None
    if not isinstance(written, int) or isinstance(written, bool) or written < 1:
        raise ValueError(f"hops {written!r}, which is no number of hops")
    return written


def _optional_text(found: dict[str, Any], field: str) -> str:
    return "" if found.get(field) in (None, "") else _text(found[field], field)


def _text(written: Any, what: str) -> str:
    """Return `written`. Raises ValueError unless it is a non-blank string that can be encoded."""
    if not isinstance(written, str) or not written.strip():
        raise ValueError(f"no {what}")
    if any(0xD800 <= ord(each) <= 0xDFFF for each in written):
        raise ValueError(f"half a character in the {what}")
    return written
