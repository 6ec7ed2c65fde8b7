"""A file of claims -> the lines of a batch: CSV with a header, JSON Lines, or one claim a line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.model import Claim
from app.runs.batches import BatchLine
from app.text.claims import LONGEST, whole_claim

MOST_CLAIMS = 10_000
"""Of one batch, whatever is set."""

LARGEST = 5 * 1024**2
"""Bytes of a file of claims."""

LONGEST_TITLE = 200

FIELDS = ("claim", "speaker", "date")
"""What is read of each line; columns and fields of other names are passed over."""

TOO_LARGE = f"That is more than the {LARGEST // 1024**2} MB that a file of claims may have."
NO_CLAIMS = "There is no claim in it."
NO_HEADER = "The first line of a CSV file must name the columns, and one of them must be called claim."


def read_claims(sent: bytes, name: str = "", most: int = MOST_CLAIMS) -> tuple[BatchLine, ...]:
    """The claims of a file; a line that is none says why, by its number. `name` is the file's, if it has one.

    What kind of file it is its name says (.csv, .jsonl, .txt), else how it begins. Raises InvalidInput for one that
    cannot be read, without any good claim, or with more than `most`.
    """
    if len(sent) > LARGEST:
        raise InvalidInput(TOO_LARGE, "claims")
    try:
        text = sent.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("The claims must be text in UTF-8; what arrived was not.", "claims") from None
    read = {"csv": _from_csv, "jsonl": _from_jsonl, "txt": _from_lines}[_kind(text, name)]
    return checked((_line(f"Line {number}: ", fields) for number, fields in read(text)), most)


def checked(lines: Iterator[BatchLine], most: int = MOST_CLAIMS) -> tuple[BatchLine, ...]:
    """The lines, when there are not too many and one at least is a claim. Raises InvalidInput."""
    found = tuple(lines)
    if len(found) > most:
        raise InvalidInput(f"There are {len(found):,} claims; at most {most:,} are allowed.", "claims")
    if not found:
        raise InvalidInput(NO_CLAIMS, "claims")
    if all(line.problem for line in found):
        raise InvalidInput(f"There is no good claim in it. {found[0].problem}", "claims")
    return found


def _line(where: str, fields: Mapping[str, Any] | str) -> BatchLine:
    """What one line says; `where` begins what is said of a bad one. Text in place of fields is why there are none."""
    if isinstance(fields, str):
        return BatchLine(Claim(""), where + fields)
    values = {name: "" if fields.get(name) is None else fields[name] for name in FIELDS}
    for name, value in values.items():
        if not isinstance(value, str):
            return BatchLine(Claim(_shown(values["claim"])), f"{where}The {name} must be text.")
    try:
        return BatchLine(whole_claim(values["claim"], values["speaker"], values["date"]))
    except InvalidInput as error:
        return BatchLine(Claim(_shown(values["claim"])), where + str(error))


def line_of(number: int, fields: Mapping[str, Any]) -> BatchLine:
    """The line of a claim that a program sent as an object, the so manieth."""
    return _line(f"Claim {number}: ", fields)


def title_of(*names: str) -> str:
    """The first of these that can be seen, on one line and as long as a title may be; "" where none can."""
    shown = ("".join(each for each in " ".join(name.split()) if each.isprintable()) for name in names)
    return next(filter(None, (name.strip()[:LONGEST_TITLE] for name in shown)), "")


def _shown(value: Any) -> str:
    """What stands in a bad line, as far as a database takes it."""
    text = value if isinstance(value, str) else ""
    return text[:LONGEST].encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _kind(text: str, name: str) -> str:
    suffix = name.lower().rpartition(".")[2]
    if suffix in ("csv", "tsv"):
        return "csv"
    if suffix in ("jsonl", "ndjson"):
        return "jsonl"
    if suffix == "txt":
        return "txt"
    if text.lstrip().startswith("{"):
        return "jsonl"
    return "csv" if "claim" in _columns(_header(text)) else "txt"


def _header(text: str) -> str:
    return text.lstrip().partition("\n")[0]


def _delimiter(header: str) -> str:
    """Programs for tables write semicolons where commas stand in numbers, or tabs."""
    return max(",;\t", key=header.count)


def _columns(header: str) -> list[str]:
    try:
        names = next(csv.reader([header], delimiter=_delimiter(header)), [])
    except csv.Error:
        return []
    return [name.strip().lower() for name in names]


def _from_csv(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each record's first line, from 1, and its fields."""
    text = text.lstrip()
    header = _header(text)
    columns = _columns(header)
    if "claim" not in columns:
        raise InvalidInput(NO_HEADER, "claims")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(header))
    next(reader)
    before = reader.line_num
    try:
        for record in reader:
            if any(value.strip() for value in record):
                yield before + 1, dict(zip(columns, record, strict=False))
            before = reader.line_num
    except csv.Error:
        raise InvalidInput(f"Line {before + 1} cannot be read as CSV.", "claims") from None


def _from_jsonl(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            fields = None
        yield number, fields if isinstance(fields, dict) else "It is no JSON object."


def _from_lines(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, {"claim": line}
