"""Read uploaded files of claims, and write the results of a batch for download."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from app.batches.service import BatchClaim
from app.config.settings import MAX_CLAIMS
from app.domain.errors import InvalidInput
from app.domain.model import BatchLine, Claim, Label
from app.runs.json_schema import as_json
from app.text.claims import MAX_CLAIM_LENGTH, parse_claim

MAX_BYTES = 5 * 1024**2

MAX_TITLE_LENGTH = 200

FIELDS = ("claim", "speaker", "date")
"""Columns and fields with other names are ignored."""

TOO_LARGE = f"That is more than the {MAX_BYTES // 1024**2} MB that a file of claims may have."
NO_CLAIMS = "There is no claim in it."
JSON_ARRAY = "This is a JSON array. Write one JSON object on each line instead."
NO_HEADER = "The first line of a CSV file must name the columns, and one of them must be called claim."


def read_claims(sent: bytes, name: str = "", limit: int = MAX_CLAIMS) -> tuple[BatchLine, ...]:
    """Return the lines of a file except blank ones; a line without a valid claim has its `problem` set.

    The format is chosen by the extension of `name`, else by the content. Raises InvalidInput for a file that cannot be
    read, has no valid claim, or has more than `limit` claims.
    """
    if len(sent) > MAX_BYTES:
        raise InvalidInput(TOO_LARGE, "claims")
    try:
        text = sent.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("The claims must be text in UTF-8; what arrived was not.", "claims") from None
    read = {"csv": _from_csv, "jsonl": _from_jsonl, "txt": _from_lines}[_kind(text, name)]
    return check_lines((_line(f"Line {number}: ", fields) for number, fields in read(text)), limit)


def check_lines(lines: Iterator[BatchLine], limit: int = MAX_CLAIMS) -> tuple[BatchLine, ...]:
    """Read at most `limit` + 1 lines and return them.

    Raises InvalidInput for more than `limit` lines, and if none has a valid claim.
    """
    found = tuple(islice(lines, limit + 1))
    if len(found) > limit:
        raise InvalidInput(f"There are more than {limit:,} claims, and no more are allowed.", "claims")
    if not found:
        raise InvalidInput(NO_CLAIMS, "claims")
    if all(line.problem for line in found):
        raise InvalidInput(f"There is no good claim in it. {found[0].problem}", "claims")
    return found


def _line(where: str, fields: Mapping[str, Any] | str) -> BatchLine:
    """Return one line of the batch. `fields` may be an error message instead; error messages begin with `where`."""
    if isinstance(fields, str):
        return BatchLine(Claim(""), where + fields)
    values = {name: "" if fields.get(name) is None else fields[name] for name in FIELDS}
    for name, value in values.items():
        if not isinstance(value, str):
            return BatchLine(Claim(_storable(values["claim"])), f"{where}The {name} must be text.")
    try:
        return BatchLine(parse_claim(values["claim"], values["speaker"], values["date"]))
    except InvalidInput as error:
        return BatchLine(Claim(_storable(values["claim"])), where + str(error))


def line_of(number: int, fields: Mapping[str, Any]) -> BatchLine:
    """Return the line of claim number `number`, sent as a JSON object."""
    return _line(f"Claim {number}: ", fields)


def title_of(*names: str) -> str:
    """Return the first name with visible characters, on one line and shortened; "" without one."""
    shown = ("".join(each for each in " ".join(name.split()) if each.isprintable()) for name in names)
    return next(filter(None, (name.strip()[:MAX_TITLE_LENGTH] for name in shown)), "")


def _storable(value: Any) -> str:
    """Return the text of an invalid claim in a form that every database can store."""
    text = value if isinstance(value, str) else ""
    return text[:MAX_CLAIM_LENGTH].encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _kind(text: str, name: str) -> str:
    suffix = name.lower().rpartition(".")[2]
    if suffix in ("csv", "tsv"):
        return "csv"
    if suffix in ("jsonl", "ndjson"):
        return "jsonl"
    if suffix == "txt":
        return "txt"
    if re.match(r"\s*\[\s*\{", text):
        raise InvalidInput(JSON_ARRAY, "claims")
    if text.lstrip().startswith("{"):
        return "jsonl"
    return "csv" if "claim" in _columns(_header(text)) else "txt"


def _header(text: str) -> str:
    """Return the first line that is not blank."""
    return next(filter(str.strip, io.StringIO(text)), "")


def _delimiter(header: str) -> str:
    """Return the most frequent separator in the header; spreadsheets write commas, semicolons or tabs."""
    return max(",;\t", key=header.count)


def _columns(header: str) -> list[str]:
    try:
        names = next(csv.reader([header], delimiter=_delimiter(header)), [])
    except csv.Error:
        return []
    return [name.strip().lower() for name in names]


def _from_csv(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number of each record's first line, from 1, and its fields."""
    header = _header(text)
    columns = _columns(header)
    if "claim" not in columns:
        raise InvalidInput(NO_HEADER, "claims")
    for number, record in islice(_records(text, _delimiter(header)), 1, None):
        yield number, dict(zip(columns, record, strict=False))


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, the header too, each after the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before = 0
    try:
        for record in reader:
            if any(value.strip() for value in record):
                yield before + 1, record
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


FORMULA_STARTS = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")
"""Spreadsheets execute text that begins with one of these as a formula (CSV injection), some also the wide forms."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A claim of a batch and its result; missing values are None."""

    number: Annotated[int, Field(ge=0)]
    claim: str
    speaker: str | None
    date: str | None
    """A day, like 2020-10-31."""
    label: Label | None
    confidence: Annotated[float, Field(ge=0, le=1)] | None
    state: str
    """The state of its run, or waiting, deleted or bad input."""
    problem: str | None
    """The reason why there is no verdict."""
    permalink: str | None
    """The address of its report."""
    verdict: str | None = None
    """The verdict in everyday words."""
    answer: str | None = None
    """The answer that decides."""
    quote: str | None = None
    """The sentence that decides."""
    source: str | None = None
    """The title of the page with that sentence, and where it is from."""
    url: str | None = None
    """The address of that page."""
    own_label: Label | None = None
    """The owner's own verdict."""
    own_reason: str | None = None
    own_name: str | None = None
    """The name under the owner's own verdict."""


COLUMNS = tuple(each.name for each in fields(BatchResult))

Details = Callable[[BatchClaim], Mapping[str, str]]
"""Returns the fields `permalink` to `url` of a result, as far as they are known."""


def result(claim: BatchClaim, details: Details) -> BatchResult:
    own = claim.own_verdict
    return BatchResult(
        number=claim.number,
        claim=claim.claim.text,
        speaker=claim.claim.speaker,
        date=claim.claim.date,
        label=claim.label,
        confidence=claim.confidence,
        state=claim.state,
        problem=claim.problem or None,
        own_label=own.label if own else None,
        own_reason=own.text or None if own else None,
        own_name=own.signed or None if own else None,
        **{"permalink": None, **details(claim)},
    )


def as_jsonl(claims: Iterable[BatchClaim], details: Details) -> Iterator[str]:
    """Yield one JSON object per line."""
    for claim in claims:
        yield json.dumps(as_json(result(claim, details)), ensure_ascii=False) + "\n"


def as_csv(claims: Iterable[BatchClaim], details: Details) -> Iterator[str]:
    """Yield a header and one record per claim (RFC 4180). Text that looks like a formula gets a leading apostrophe."""
    yield _record(COLUMNS)
    for claim in claims:
        yield _record(map(_escape_formula, as_json(result(claim, details)).values()))


def _escape_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def _record(values: Iterable[Any]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(values)
    return written.getvalue()
