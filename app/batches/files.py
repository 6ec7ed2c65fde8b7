"""Read files of claims as people have them, and write the results of a batch for download."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date
from itertools import islice
from textwrap import shorten
from typing import Annotated, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from pydantic import Field

from app.batches.service import BatchClaim
from app.config.settings import MAX_CLAIMS
from app.domain.errors import InvalidInput
from app.domain.messages import Words
from app.domain.model import BatchLine, Claim, Label
from app.runs.json_schema import as_json
from app.text.claims import MAX_CLAIM_LENGTH, parse_claim

MAX_BYTES = 5 * 1024**2
MAX_SHEET_BYTES = 25 * 1024**2
"""Bytes of an unpacked spreadsheet."""
MAX_SHEET_PARTS, MAX_SHEET_TAGS = 200, 600_000
"""Files and XML tags of a spreadsheet: 10,000 claims with seven other columns have 500,000 tags, read in 2 s."""
MAX_ROWS_ABOVE = 100
"""Rows of a sheet in which its header is searched."""
MAX_COLUMNS = 100
MAX_RECORD_LINES = 20
"""Lines of a CSV record, within which a quotation mark is closed."""
MAX_DEPTH = 20
"""Levels of a JSON document in which claims are searched."""

MAX_TITLE_LENGTH = 200

NAMES = {
    "claim": "claim claims claimreviewed claimtext statement statements fact assertion sentence text tweettext tweet "
    "content",
    "speaker": "speaker claimant speakername claimspeaker claimauthor saidby attributedto statementoriginator "
    "originator",
    "date": "date claimdate statementdate datesaid saidon madeon dateclaimed",
}
"""Names of columns and fields, the most telling first, without case, spaces and signs.

They are those of AVeriTeC, LIAR, FEVER, HoVer, ClaimBuster, ClaimReview, FacTool and the Fact Check Tools API.
"""
LIAR_COLUMNS = (
    "id label claim subject speaker job state party barely_true false half_true mostly_true pants_on_fire context"
).split()
"""LIAR's files have no header; their first column is like 2635.json."""
ENCODINGS = ["cp1252", "mac_roman", "cp1250", "cp1251", "utf_16", "utf_16_le", "utf_16_be"]
"""Encodings in which spreadsheets save text, beside UTF-8."""
NO_SEPARATOR = "\x1f"
"""The separator of a table with one column; no claim can hold it."""

TOO_LARGE = Words(
    "That is more than the {megabytes} MB that a file of claims may have.", megabytes=MAX_BYTES // 1024**2
)
NO_CLAIMS = Words("There is no claim in it.")
NO_HEADER = Words("The first line of a table must name the columns, and one of them must be called claim.")
UNREADABLE_TEXT = Words("The file is no text that can be read. Save it as CSV UTF-8.")
UNREADABLE_SHEET = Words("The spreadsheet cannot be read. Save it as .xlsx or as CSV UTF-8.")
BAD_QUOTES = Words("It has a quotation mark that is not closed, or not doubled inside a quotation.")
QUOTE = Words("Put quotation marks around a text that holds the separator.")
NO_OBJECT = Words("It is neither text nor a JSON object.")

Fields = Mapping[str, Any] | str
"""The fields of a claim, or what is wrong with it."""


_IN_BRACKETS = re.compile(r"\([^()]*\)")
"""A remark in the name of a column, as in "claim (required)"."""
_MARKUP = re.compile(r"<(?:!doctype html|\?xml|html|head|meta|body|div|table)\b", re.IGNORECASE)


class ClaimsFile(NamedTuple):
    lines: tuple[BatchLine, ...]
    ignored: tuple[str, ...]
    """Names of the columns or fields that are not read."""


def read_claims(sent: bytes, name: str = "", limit: int = MAX_CLAIMS) -> ClaimsFile:
    """Return the lines of a file except blank ones; a line without a valid claim has its `problem` set.

    Files are spreadsheets (.xlsx, or a page with a table), JSON, JSON Lines, CSV with any separator, and text with one
    claim per line. The format is chosen by the content, CSV and JSON also by the extension of `name`. Raises
    InvalidInput for a file that cannot be read, has no valid claim, or has more than `limit` claims.
    """
    if len(sent) > MAX_BYTES:
        raise InvalidInput(TOO_LARGE, "claims")
    is_sheet = sent.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))
    columns, rows = _from_sheet(sent) if is_sheet else _from_text(sent, name)
    lines = check_lines((_line(f"{where}: ", fields) for where, fields in rows), limit)
    used = {*_places(columns).values(), "itemReviewed", ""}
    return ClaimsFile(lines, tuple(each for each in columns if each not in used and not each.startswith("@")))


def ignored_words(ignored: Sequence[str]) -> str:
    """Return a sentence that names the columns that were not read."""
    return Words("Not read: {columns}.", columns=shorten(", ".join(ignored), MAX_TITLE_LENGTH, placeholder=" …"))


def _from_text(sent: bytes, name: str) -> tuple[Sequence[str], Iterator[tuple[str, Fields]]]:
    lines = io.StringIO(_decoded(sent), newline=None).readlines() or [""]
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    suffix, start = name.lower().rpartition(".")[2], lines[first].lstrip()[:1]
    is_json = suffix in ("json", "jsonl", "ndjson")
    if start == "<" and _MARKUP.match(lines[first].lstrip()):
        return _from_markup("".join(lines))
    if is_json or start in ("[", "{"):
        whole = _json("".join(lines))
        if whole is None and _json(lines[first]) is None:
            whole = _json_values("".join(lines))
        if whole is not None:
            return _from_json(enumerate(_claims_in(whole), 1), "Claim")
    if is_json or start == "{":
        values = ((number, _json(line.rstrip(", \n"))) for number, line in enumerate(lines, 1) if line.strip())
        return _from_json(((number, row) for number, value in values for row in _claims_in(value)), "Line")
    if re.match(r"\d+\.json\t", lines[first]):
        return LIAR_COLUMNS, _rows(LIAR_COLUMNS, _records(lines, first, "\t"))
    if separator := re.fullmatch(r'"?sep=([^\w\s"]|\t)"?\s*', lines[first], re.IGNORECASE):
        first = next((number for number, line in enumerate(lines) if number > first and line.strip()), first)
    for number in range(first, min(first + MAX_ROWS_ABOVE, len(lines))):
        usual = max(",;\t|", key=_IN_BRACKETS.sub("", lines[number]).count)
        delimiter = separator[1] if separator else usual if usual in lines[number] else NO_SEPARATOR
        records = _records(lines, number, delimiter)
        columns = _header(next(records, ("", []))[1])
        if "claim" in _places(columns) and (number == first or len(columns) > 1):
            return columns, _rows(columns, records)
        if len(columns) > 1:
            break  # lines of one cell above the header are titles
    if suffix in ("csv", "tsv"):
        raise InvalidInput(NO_HEADER, "claims")
    return (), ((f"Line {number}", {"claim": line}) for number, line in enumerate(lines, 1) if line.strip())


def _from_markup(text: str) -> tuple[Sequence[str], Iterator[tuple[str, Fields]]]:
    """Return columns and rows of the tables in a page, as some programs export spreadsheets. Raises InvalidInput."""
    from lxml import etree

    if text.count("<") > MAX_SHEET_TAGS:
        raise InvalidInput(UNREADABLE_SHEET, "claims")
    tree = etree.fromstring(f"{text}<tr>".encode(), etree.HTMLParser(encoding="utf-8"))  # an empty text has no tree
    rows = (
        (f"Row {number}", [" ".join("".join(cell.itertext()).split()) for cell in row.iterchildren("td", "th")])
        for number, row in enumerate(tree.iter("tr"), 1)
    )
    if "claim" not in _places(columns := _sheet_header(islice(rows, MAX_ROWS_ABOVE))):
        raise InvalidInput(NO_HEADER, "claims")
    return columns, _rows(columns, ((where, row) for where, row in rows if any(row)))


def _decoded(sent: bytes) -> str:
    """Return the text without its byte order mark. Raises InvalidInput for other than text."""
    try:
        text = sent.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:  # text in UTF-16 may be valid UTF-8, but with these
        return text
    from charset_normalizer import from_bytes

    found = from_bytes(sent, cp_isolation=ENCODINGS).best()
    if found is None or "\0" in str(found):
        raise InvalidInput(UNREADABLE_TEXT, "claims")
    return str(found).removeprefix("\ufeff")


def _places(columns: Iterable[str]) -> dict[str, str]:
    """Return the name of each field's column, the most telling one."""
    plain = {re.sub(r"[\W_]+", "", _IN_BRACKETS.sub("", name.casefold())): name for name in reversed(list(columns))}
    found = {field: [plain[name] for name in names.split() if name in plain] for field, names in NAMES.items()}
    return {field: names[0] for field, names in found.items() if names}


def _header(record: list[str] | str) -> list[str]:
    """Return the names of the columns, without empty ones at the end; [] for a record that cannot be read."""
    columns = [] if isinstance(record, str) else [name.strip() for name in record]
    while columns and not columns[-1]:
        columns.pop()
    return columns


def _rows(columns: Sequence[str], records: Iterable[tuple[str, list[str] | str]]) -> Iterator[tuple[str, Fields]]:
    """Yield the fields of the records; a record with more fields than columns is a problem."""
    places = {field: columns.index(name) for field, name in _places(columns).items()}
    for where, record in records:
        if isinstance(record, str):
            yield where, record
        elif any(value.strip() for value in record[len(columns) :]):
            yield where, f"It has {len(record)} fields, and the header {len(columns)}. {QUOTE}"
        else:
            yield where, {field: record[at] for field, at in places.items() if at < len(record)}


def _records(lines: Sequence[str], first: int, delimiter: str) -> Iterator[tuple[str, list[str] | str]]:
    """Yield the CSV records from line `first` that are not blank, each after its place; a problem is text."""
    while first < len(lines):
        if not lines[first].strip():
            first += 1
            continue
        record, read = _csv_record(lines[first : first + MAX_RECORD_LINES], delimiter)
        if len(record) == 1 and delimiter in ";|\t":  # a whole row in quotation marks
            record = record[0].split(delimiter)
        if isinstance(record, str) or any(value.strip().strip(":-") for value in record):  # no line of a Markdown table
            yield f"Line {first + 1}", record
        first += read


def _csv_record(lines: Sequence[str], delimiter: str) -> tuple[list[str] | str, int]:
    """Return the CSV record at the start of the lines, a problem as text, and how many lines it has."""
    space_after = re.compile(rf'" +(?={re.escape(delimiter)}|$)')
    closed = (space_after.sub('"', line) for line in lines)
    for tried, skips_spaces in ((lines, True), (lines, False), (closed, True)):  # spaces before and after a quotation
        reader = csv.reader(tried, delimiter=delimiter, skipinitialspace=skips_spaces, strict=True)
        with suppress(csv.Error):
            return next(reader), reader.line_num
    is_plain = delimiter in ("\t", NO_SEPARATOR) and lines[0].count('"') % 2 == 0
    return lines[0].split(delimiter) if is_plain else BAD_QUOTES, 1


def _from_sheet(sent: bytes) -> tuple[Sequence[str], Iterator[tuple[str, Fields]]]:
    """Return columns and rows of the first sheet with a column for claims. Raises InvalidInput."""
    from openpyxl import load_workbook

    try:
        with ZipFile(io.BytesIO(sent)) as packed, ZipFile(plain := io.BytesIO(), "w") as unpacked:
            parts = packed.infolist()
            if len(parts) > MAX_SHEET_PARTS or sum(each.file_size for each in parts) > MAX_SHEET_BYTES:
                raise ValueError
            if any(each.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for each in parts):  # zipfile bounds only these
                raise ValueError
            for each in parts:  # a part may unpack to more than it states; openpyxl would unpack all of it
                if "docProps" not in each.filename:  # dates that openpyxl may refuse
                    name = each.filename.replace("\\", "/").replace("[content_types]", "[Content_Types]")
                    unpacked.writestr(name, _plain_runs(packed.open(each).read(each.file_size)))
        if plain.getvalue().count(b"<") > MAX_SHEET_TAGS:
            raise ValueError
        for sheet in load_workbook(plain, read_only=True, data_only=True).worksheets:
            rows = sheet.iter_rows(max_row=2 * MAX_CLAIMS, max_col=MAX_COLUMNS, values_only=True)
            cells = ((f"Row {number}", list(map(_cell, row))) for number, row in enumerate(rows, 1))
            columns = _sheet_header(islice(cells, MAX_ROWS_ABOVE))
            if "claim" in _places(columns):
                return columns, _rows(columns, [(where, row) for where, row in cells if any(row)])
    except Exception as error:  # the library has many, also for another kind of zip file
        raise InvalidInput(UNREADABLE_SHEET, "claims") from error
    raise InvalidInput(NO_HEADER, "claims")


def _sheet_header(rows: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Return the names of the columns; rows with one cell above them are titles. [] if the table has no header."""
    is_first = True
    for _, row in rows:
        filled = sum(map(bool, row))
        if filled > 1 or (filled and is_first and "claim" in _places(row)):
            return _header(row)
        is_first = is_first and not filled
    return []


_EMPTY_FILL = re.compile(rb"<fill\s*(?:/>|></fill>)")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")


def _plain_runs(part: bytes) -> bytes:
    """Return a part of a workbook with raised numbers as ⁶ and without struck-out text, which openpyxl reads alike.

    A fill without a pattern, which openpyxl refuses, gets an empty one.
    """
    part = _EMPTY_FILL.sub(b"<fill><patternFill/></fill>", part)
    if (b"superscript" not in part and b"<strike" not in part) or part.count(b"<") > MAX_SHEET_TAGS:
        return part
    from lxml import etree

    tree = etree.fromstring(part, etree.XMLParser(resolve_entities=False))
    for run in tree.iterfind(".//{*}rPr/.."):
        struck, text = run.find("{*}rPr/{*}strike"), run.find("{*}t")
        if text is None or not text.text:
            continue
        if struck is not None and struck.get("val") not in ("0", "false"):
            text.text = ""
        elif run.find("{*}rPr/{*}vertAlign[@val='superscript']") is not None:
            is_number = text.text.strip("0123456789+-−") == ""
            text.text = text.text.translate(_RAISED) if is_number else text.text
    return etree.tostring(tree, encoding="UTF-8", xml_declaration=True)


def _cell(value: Any) -> str:
    return (
        value.isoformat()[:10]
        if isinstance(value, date)
        else ""
        if value is None
        else str(value).replace("_x000D_", "").strip()
    )


def _from_json(found: Iterable[tuple[int, Any]], unit: str) -> tuple[Sequence[str], Iterator[tuple[str, Fields]]]:
    numbered = list(islice(found, MAX_CLAIMS + 1))
    columns = list(next((row for _, row in numbered if isinstance(row, dict)), {}))
    return columns, ((f"{unit} {number}", _fields(row)) for number, row in numbered)


_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+"|\\.)|,(?=\s*[\]}])', re.DOTALL)
_BETWEEN_VALUES = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
"""Reads NaN, as pandas writes."""


def _json(text: str) -> Any:
    """Return the value, which may have a comma after the last item; None if the text is no JSON."""
    with suppress(ValueError, RecursionError):
        return _DECODER.decode(text)
    with suppress(ValueError, RecursionError):
        return _DECODER.decode(_TRAILING_COMMA.sub(r"\1", text))
    return None


def _json_values(text: str) -> list[Any] | None:
    """Return JSON values that follow each other, None for other text."""
    found, at = [], len(text) - len(text.lstrip())
    with suppress(ValueError, RecursionError):
        while at < len(text):
            value, at = _DECODER.raw_decode(text, at)
            found.append(value)
            at += len(_BETWEEN_VALUES.match(text, at)[0])  # type: ignore[index]
        return found
    return None


def _claims_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the items of a list, and the objects with a claim at any depth; other values as they are.

    An object may hold a list of claims, as in FacTool and the Fact Check Tools API.
    """
    if isinstance(value, list) and depth < MAX_DEPTH:
        for each in value:
            yield from _claims_in(each, depth + 1)
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        claim = value.get(_places(value).get("claim", ""))
        inner = claim if isinstance(claim, list | dict) else [] if claim else list(value.values())
        found = [row for row in _claims_in(inner, depth + 1) if inner is claim or _is_claim(row)]
        yield from found or [value]
    else:
        yield value


def _is_claim(row: Any) -> bool:
    return isinstance(row, dict) and "claim" in _places(row)


def _fields(row: Any) -> Fields:
    if isinstance(row, str):
        return {"claim": row}
    if not isinstance(row, dict):
        return NO_OBJECT
    found = {field: row[name] for field, name in _places(row).items()}
    if isinstance(reviewed := row.get("itemReviewed"), dict):  # the author and date beside it are those of the review
        found = {"speaker": reviewed.get("author"), "date": reviewed.get("datePublished")} | found
    if isinstance(speaker := found.get("speaker"), dict):
        found["speaker"] = speaker.get("name")
    return found


def check_lines(lines: Iterator[BatchLine], limit: int = MAX_CLAIMS) -> tuple[BatchLine, ...]:
    """Read at most `limit` + 1 lines and return them.

    Raises InvalidInput for more than `limit` lines, and if none has a valid claim.
    """
    found = tuple(islice(lines, limit + 1))
    if len(found) > limit:
        raise InvalidInput(
            Words("There are more than {limit:,} claims, and no more are allowed.", limit=limit), "claims"
        )
    if not found:
        raise InvalidInput(NO_CLAIMS, "claims")
    if all(line.problem for line in found):
        raise InvalidInput(Words("There is no good claim in it. {problem}", problem=found[0].problem), "claims")
    return found


def _line(where: str, fields: Mapping[str, Any] | str) -> BatchLine:
    """Return one line of the batch. `fields` may be an error message instead; error messages begin with `where`."""
    if isinstance(fields, str):
        return BatchLine(Claim(""), where + fields)
    values = {name: "" if fields.get(name) is None else fields[name] for name in NAMES}
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
    text = value if isinstance(value, str) else ""
    return text[:MAX_CLAIM_LENGTH].encode("utf-8", "replace").decode().replace("\0", "\ufffd")


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
    fact_checks: str | None = None
    """Published fact-checks, one a line: publisher, rating, day and address."""
    own_label: Label | None = None
    """The owner's own verdict."""
    own_reason: str | None = None
    own_name: str | None = None
    """The name under the owner's own verdict."""


COLUMNS = tuple(each.name for each in fields(BatchResult))

Details = Callable[[BatchClaim], Mapping[str, str]]
"""Returns the fields `permalink` to `fact_checks` of a result, as far as they are known."""


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
    for claim in claims:
        yield json.dumps(as_json(result(claim, details)), ensure_ascii=False) + "\n"


def as_csv(claims: Iterable[BatchClaim], details: Details) -> Iterator[str]:
    """Yield a header and one record per claim (RFC 4180), after a byte order mark, without which Excel misreads UTF-8.

    Text that looks like a formula gets a leading apostrophe.
    """
    yield "\ufeff" + _record(COLUMNS)
    for claim in claims:
        yield _record(map(_escape_formula, as_json(result(claim, details)).values()))


def _escape_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def _record(values: Iterable[Any]) -> str:
    written = io.StringIO()
    csv.writer(written).writerow(values)
    return written.getvalue()
