"""Readers for the data sets that claims are measured on: JSON Lines or a JSON array in, rows of one type out.

Released files are read as they are (official.py). In Hopcheck's own form a row has `id`, `claim` and `label`. Its gold
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
from research.evaluation.official import SQUAD, as_own, release_of

# Files of JSON objects, one a line or all in one array, with every fault named by its place; training uses it too.

T = TypeVar("T")


def read_jsonl(path: Path, understood: Callable[[dict[str, Any], int], T], *, field: str, empty: str) -> list[T]:
    """What `understood` makes of every object and the number of its line, in the file's order.

    `understood` raises ValueError, in words, at an object that is no row. Raises InvalidInput on `field`, which names
    the first line at fault and counts the others; `empty` says in it what cannot be done with a file without any row.
    """
    rows: list[T] = []
    faults: list[str] = []
    for number, where, parse in _objects(path, field):
        try:
            rows.append(understood(parse(), number))
        except ValueError as error:
            faults.append(f"{path.name}, {where} {number}: {error}")
    if faults:
        others = f" ({where}s at fault in all: {len(faults)})" if len(faults) > 1 else ""
        raise InvalidInput(f"{faults[0]}{others}.", field)
    if not rows:
        raise InvalidInput(f"{path.name} is empty: {empty}.", field)
    return rows


Parsed = tuple[int, str, Callable[[], dict[str, Any]]]
"""The number of a row from 1, what it is called there, and what returns its object or raises ValueError."""


def _objects(path: Path, field: str) -> Iterator[Parsed]:
    """Yield the rows of a file. Bytes are read, so that a line that is no UTF-8 can be named like any other."""
    try:
        with path.open("rb") as file:
            if next((line for line in file if line.strip()), b"").lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
                yield from _array(path, field)
                return
            file.seek(0)
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, "line", partial(_object, line)
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}.", field) from error


def _array(path: Path, field: str) -> Iterator[Parsed]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        told = (
            f"{error.msg}, line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "no UTF-8, or too deep"
        )
        raise InvalidInput(
            f"{path.name} begins as a JSON array and is none that can be read ({told}).", field
        ) from None
    for number, each in enumerate(found, 1):
        yield number, "row", partial(_as_object, each)


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg})") from None
    except RecursionError:
        raise ValueError("not JSON that can be read (nested too deeply)") from None
    return _as_object(found)


def _as_object(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError("no JSON object; one row a line is wanted, or an array of rows")
    return found


UNANSWERABLE = "Unanswerable"
"""AVeriTeC's answer type for a question that nobody could answer; its text says so."""
BOOLEAN = "Boolean"
"""Its answer type for a yes or no."""


@dataclass(frozen=True, slots=True)
class Row:
    """A claim with its label, and its gold evidence as (title, text) passages or as (question, answer) pairs.

    An answer is None where the set says that the question has none. `hops` is None where the set does not count them;
    rows of one `group` must not be split between training and measuring. `speaker` and `date` say who made the claim
    and on which day, as the set writes it: "" where it does not. `asked` are the questions, each with its answers as
    they stand in the set, a yes or no with what explains it: what AVeriTeC's own score compares, with `justification`
    and by `types` of claims. `tables` says that the evidence is not of sentences alone. A passage without text is only
    named.
    """

    id: str
    claim: str
    label: Gold
    passages: tuple[tuple[str, str], ...] = ()
    answers: tuple[tuple[str, str | None], ...] = ()
    hops: int | None = None
    group: str | None = None
    speaker: str = ""
    date: str = ""
    asked: tuple[tuple[str, tuple[str, ...]], ...] = ()
    justification: str = ""
    types: tuple[str, ...] = ()
    tables: bool = False

    @property
    def has_evidence(self) -> bool:
        """Whether there is anything to judge the claim by."""
        return any(text for _, text in self.passages) or any(answer for _, answer in self.answers)


@dataclass(frozen=True, slots=True)
class Format:
    """The fields that every row of a format has beside id, claim and label, and the labels that it knows."""

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
    """Every row of the file, in its order, without the empty ones of a release.

    Raises InvalidInput in one sentence that names the first line at fault and counts the others, or the format of a
    file that is in another one.
    """
    line_of: dict[str, int] = {}

    def understood(found: dict[str, Any], number: int) -> Row | None:
        own = _in_format(found, number - 1, format_name)
        if own is None:
            return None
        row = _row(own, format_name)
        if row.id in line_of:
            raise ValueError(f"the id {row.id!r} stands in line {line_of[row.id]} already")
        line_of[row.id] = number
        return row

    rows = read_jsonl(path, understood, field="file", empty="there is nothing to measure")
    return [row for row in rows if row is not None]


def read_released(path: Path, format_name: str) -> list[dict[str, Any]]:
    """Return the rows of a released file in Hopcheck's own form. Raises InvalidInput as `read_rows` does."""
    rows = read_jsonl(
        path, lambda found, number: _in_format(found, number - 1, format_name), field="file", empty="it has no row"
    )
    return [row for row in rows if row is not None]


def _in_format(found: dict[str, Any], place: int, format_name: str) -> dict[str, Any] | None:
    """The row in Hopcheck's own form. Raises ValueError, which names the format, for a release of another one."""
    release = SQUAD if set(found) == {"version", "data"} or set(found) == {"data"} else release_of(found)
    if release == SQUAD:
        raise ValueError("this is SQuAD's release, which has no claims: it is for `train reader`")
    if release and release != format_name:
        raise ValueError(f"this is a row of the format {release}, not {format_name}: give --format {release}")
    return as_own(found, place)


def _row(found: dict[str, Any], format_name: str) -> Row:
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
        _label(found["label"], format_name),
        tuple(_passage(part) for part in _list(found, "evidence")),
        tuple(pair for part in questions for pair in _pairs(part)),
        _hops(found.get("hops")),
        str(found["group"]) if found.get("group") is not None else None,
        _text_or_none(found, "speaker"),
        _text_or_none(found, "date"),
        tuple(
            (part["question"], tuple(_as_it_stands(answer) for answer in _list(part, "answers"))) for part in questions
        ),
        _text_or_none(found, "justification"),
        tuple(str(each) for each in _list(found, "claim_types")),
        bool(found.get("tables")),
    )


def _label(written: Any, format_name: str) -> Gold:
    label = gold_label(_text(written, "label"))
    if label not in FORMATS[format_name].labels:
        known = ", ".join(FORMATS[format_name].labels)
        raise ValueError(f"the label {written!r} is unknown in the format {format_name}, which has {known}")
    return label


def _passage(part: Any) -> tuple[str, str]:
    """(title, text); a title may be empty, and so may the text of a page that a release only names."""
    if not isinstance(part, dict) or not isinstance(part.get("title", ""), str):
        raise ValueError("evidence that is no {title, text}")
    if part.get("title") and part.get("text", "") is None:
        return part["title"], ""
    return part.get("title", ""), _text(part.get("text"), "text of its evidence")


def _pairs(part: Any) -> Iterator[tuple[str, str | None]]:
    """The question with each of its answers; what explains a yes or no belongs to it."""
    if not isinstance(part, dict):
        raise ValueError("questions that are no {question, answers}")
    question, answers = _text(part.get("question"), "text of its question"), _list(part, "answers")
    if not answers:
        yield question, None
    for answer in answers:
        if not isinstance(answer, dict):
            raise ValueError("answers that are no {answer}")
        told = [_text(answer.get("answer"), "answer to its question")]
        if answer.get("boolean_explanation"):
            told.append(_text(answer["boolean_explanation"], "explanation of its answer"))
        unanswered = answer.get("answer_type") == UNANSWERABLE
        yield question, None if unanswered else ". ".join(each.strip(" .") for each in told)


def _as_it_stands(answer: dict[str, Any]) -> str:
    explained = answer.get("boolean_explanation") if answer.get("answer_type") == BOOLEAN else None
    return f"{answer['answer']}. {explained}" if explained else answer["answer"]


def _list(found: dict[str, Any], field: str) -> list[Any]:
    parts = found.get(field) or []
    if not isinstance(parts, list):
        raise ValueError(f"{field}, which is no list")
    return parts


def _hops(written: Any) -> int | None:
    if written is None:
        return None
    if not isinstance(written, int) or isinstance(written, bool) or written < 1:
        raise ValueError(f"hops {written!r}, which is no number of hops")
    return written


def _text_or_none(found: dict[str, Any], field: str) -> str:
    """What stands under `field`, "" where nothing does."""
    return "" if found.get(field) in (None, "") else _text(found[field], field)


def _text(written: Any, what: str) -> str:
    """`written` when it is text with something in it that can be written down again."""
    if not isinstance(written, str) or not written.strip():
        raise ValueError(f"no {what}")
    if any(0xD800 <= ord(each) <= 0xDFFF for each in written):
        raise ValueError(f"half a character in the {what}")
    return written
