"""Files of claims are read as people have them, invalid lines are named by number, and results are safe to open."""

from __future__ import annotations

import csv
import io
import json
import struct
import time
import tracemalloc
from contextlib import suppress
from datetime import datetime
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from app.batches.files import (
    BAD_QUOTES,
    COLUMNS,
    MAX_BYTES,
    MAX_CLAIMS,
    NO_CLAIMS,
    NO_HEADER,
    NO_OBJECT,
    TOO_LARGE,
    UNREADABLE_SHEET,
    UNREADABLE_TEXT,
    as_csv,
    as_jsonl,
    read_claims,
)
from app.batches.service import BatchClaim
from app.domain.errors import InvalidInput
from app.domain.model import BatchLine, Claim, Label
from app.text.claims import MAX_CLAIM_LENGTH

WHOLE = Claim("Hamlet, the play, is old.", "Somebody", "2020-10-31")
BARE = Claim("The moon is made of rock.")
ROWS = (("claim", "speaker", "date"), (WHOLE.text, WHOLE.speaker, datetime(2020, 10, 31)), (BARE.text, None, None))
QUOTED = 'claim,speaker,date\n"Hamlet, the play, is old.",Somebody,31.10.2020\nThe moon is made of rock.\n'
TABBED = (
    "claim\tspeaker\tdate\nHamlet, the play, is old.\tSomebody\tOct 31, 2020\nThe moon is made of rock.\tN/A\tNaN\n"
)
REVIEW = {
    "@context": "https://schema.org",
    "@type": "ClaimReview",
    "claimReviewed": WHOLE.text,
    "author": {"@type": "Organization", "name": "A checker"},
    "datePublished": "2020-12-01",
    "itemReviewed": {"@type": "Claim", "author": {"name": "Somebody"}, "datePublished": "2020-10-31T08:00:00Z"},
}
LIAR = (
    "2635.json\tfalse\tHamlet, the play, is old.\tx\tSomebody\tSenator\tTexas\tx\t0\t1\t0\t0\t0\ta mailer\n"
    '1.json\ttrue\t"The moon" is made of "rock".\tx\t\t\t\t\t0\t0\t0\t0\t0\tan interview\n'
)
CLAIMBUSTER = (
    "Sentence_id,Text,Speaker,Speaker_title,Date,Verdict\n"
    '16,"Hamlet, the play, is old.",Somebody,Senator,2020-10-31,1\n17,The moon is made of rock.,,,unknown,0\n'
)
AVERITEC = [
    {"claim": WHOLE.text, "claim_date": "31-10-2020", "speaker": "Somebody", "label": "Refuted"},
    {"claim": BARE.text, "speaker": None, "claim_date": None},
]
FACT_CHECK_TOOLS = {
    "claims": [{"text": WHOLE.text, "claimant": "Somebody", "claimDate": "2020-10-31T00:00:00Z"}, {"text": BARE.text}],
    "nextPageToken": "x",
}
POLITIFACT = (
    '{"statement_originator": "Somebody", "statement": "Hamlet, the play, is old.", "statement_date": "10/31/2020"}\n'
    '{"statement": "The moon is made of rock."}'
)
X_FACT = (
    "\tstatement\tclaimant\tclaimDate\n0\tHamlet, the play, is old.\tSomebody\t20201031\n1\tThe moon is made of rock."
)
SEPARATOR_NAMED = (
    'sep=;\nclaim;speaker;date\n"Hamlet, the play, is old.";Somebody;2020-10-31;;\nThe moon is made of rock.'
)

SPACED = (
    '"claim", "speaker", "date"\n"Hamlet, the play, is old.", "Somebody", "2020-10-31"\nThe moon is made of rock., NaN,'
)
NOT_NUMBERS = json.dumps(
    [
        {"claim": WHOLE.text, "speaker": "Somebody", "date": "2020-10-31"},
        {"claim": BARE.text, "speaker": float("nan"), "date": float("nan")},
    ]
)


INDENTED = "\n".join(json.dumps(each, indent=2) for each in AVERITEC)
MARKDOWN = (
    "| claim | speaker | date |\n|---|:---|---:|\n"
    "| Hamlet, the play, is old. | Somebody | 2020-10-31 |\n| The moon is made of rock. | | |\n"
)
PAGE = (
    "<html><table><tr><th>claim</th><th>speaker</th><th>date</th></tr><tr><td>Hamlet, the <b>play</b>, is old.</td>"
    "<td>Somebody</td><td>2020-10-31</td></tr><tr><td>The moon is made&nbsp;of rock.<td></table></html>"
)


def sheet(*tables: tuple) -> bytes:
    """Return a workbook with these sheets."""
    book, stored = Workbook(), io.BytesIO()
    book.remove(book.active)
    for rows in tables:
        added = book.create_sheet()
        for row in rows:
            added.append(row)
    book.save(stored)
    return stored.getvalue()


@pytest.mark.parametrize(
    ("name", "sent", "ignored"),
    [
        ("a.csv", QUOTED, ()),
        ("", QUOTED, ()),
        ("a.txt", QUOTED, ()),
        ("a.csv", QUOTED.replace("\n", "\r"), ()),
        ("a.csv", QUOTED.replace("\n", "\r\n\r\n"), ()),
        ("a.csv", "\n \t \r\n" + QUOTED, ()),
        ("a.csv", SEPARATOR_NAMED, ()),
        ("a.csv", SPACED, ()),
        ("a.csv", SPACED.replace('",', '" ,').replace('"\n', '" \n'), ()),
        ("a.csv", QUOTED.replace("claim,speaker", "*Claim (one fact),Speaker (a name; if known)"), ()),
        ("a.csv", "Claims of May,,\n\n" + QUOTED, ()),
        ("", "Claims of May\n" + QUOTED, ()),
        ("a.csv", "claim|date|speaker\nHamlet, the play, is old.|2020/10/31|Somebody\n\n" + BARE.text, ()),
        ("", 'claim;date;speaker\nHamlet, the play, is old.;2020-10-31;Somebody\n\n"The moon is made\nof rock."\n', ()),
        ("a.tsv", TABBED, ()),
        ("a.TSV", TABBED.replace("claim\t", " Claim \tother\t").replace(".\t", ".\tx\t"), ("other",)),
        ("", X_FACT, ()),
        ("a.csv", CLAIMBUSTER, ("Sentence_id", "Speaker_title", "Verdict")),
        ("dev.json", json.dumps(AVERITEC), ("label",)),
        ("", json.dumps(FACT_CHECK_TOOLS, indent=2), ()),
        ("a.json", json.dumps([REVIEW, {"claimReviewed": BARE.text}]), ("author", "datePublished")),
        ("a.json", json.dumps({"@graph": [REVIEW, {"claimReviewed": BARE.text}]}), ("author", "datePublished")),
        ("a.jsonl", "\n\n".join(map(json.dumps, AVERITEC)), ("label",)),
        ("", POLITIFACT, ()),
        ("a.json", NOT_NUMBERS, ()),
        ("a.json", NOT_NUMBERS.replace("}", ",}").replace("]", ",\n]"), ()),
        ("a.jsonl", ",\n".join(map(json.dumps, AVERITEC)), ("label",)),
        ("a.json", INDENTED, ("label",)),
        ("a.md", MARKDOWN, ()),
        ("a.xls", PAGE, ()),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_claims_are_read_with_speaker_and_date_from_every_format(name, sent, ignored, encoding):
    assert read_claims(sent.encode(encoding), name) == ((BatchLine(WHOLE), BatchLine(BARE)), ignored)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be", "mac_roman"])
def test_the_encodings_of_spreadsheets_are_read(encoding):
    rows = [f"Antonín war {number}-mal in Köln, und Émile Zola fährt nach Besançon." for number in range(9)]
    (first, *_), _ = read_claims(("claim\n" + "\n".join(rows)).encode(encoding), "a.csv")
    assert first == BatchLine(Claim(rows[0]))


@pytest.mark.parametrize(
    "tables",
    [
        (ROWS,),
        ((("About", "this"), ("file", 1)), ROWS),
        (((), (), *ROWS[:2], (), *ROWS[2:]),),
        ((("Claims of May",), *ROWS),),
    ],
)
def test_a_spreadsheet_is_read_from_its_first_sheet_with_a_column_for_claims(tables):
    assert read_claims(sheet(*tables), "a.xlsx") == ((BatchLine(WHOLE), BatchLine(BARE)), ())


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("xl/styles.xml", "<fill><patternFill/></fill>", "<fill/>"),
        ("docProps/core.xml", "Z<", "99Z<"),
        ("xl/worksheets/sheet1.xml", "Hamlet, the", "Hamlet,_x000D_\n the"),
        ("/", "/", "\\"),
    ],
)
def test_a_spreadsheet_of_another_program_is_read_in_spite_of_its_faults(name, before, after):
    """Fills without a pattern, times that are none, escaped line ends, backslashes in the names of its parts."""
    with ZipFile(io.BytesIO(sheet(ROWS))) as old, ZipFile(made := io.BytesIO(), "w") as new:
        for part in old.namelist():
            text = old.read(part).decode()
            assert part != name or before in text
            new.writestr(
                part.replace("/", after) if name == "/" else part, text.replace(before, after) if part == name else text
            )
    assert read_claims(made.getvalue(), "a.xlsx").lines == (BatchLine(WHOLE), BatchLine(BARE))


@pytest.mark.parametrize(
    ("font", "run", "text"),
    [
        (InlineFont(vertAlign="superscript"), "6", "10^6 bricks"),
        (InlineFont(vertAlign="superscript"), "th", "10th bricks"),
        (InlineFont(vertAlign="subscript"), "6", "106 bricks"),
        (InlineFont(strike=True), "6", "10 bricks"),
        (InlineFont(strike=False), "6", "106 bricks"),
    ],
)
def test_raised_numbers_of_a_spreadsheet_never_fuse_and_struck_out_text_is_left_out(font, run, text):
    sent = sheet((("claim",), (CellRichText(["10", TextBlock(font, run), " bricks"]),)))
    assert read_claims(sent, "a.xlsx").lines == (BatchLine(Claim(text)),)


def test_the_rows_of_liar_are_read_without_a_header():
    (first, second), ignored = read_claims(LIAR.encode(), "train.tsv")
    assert first == BatchLine(Claim(WHOLE.text, "Somebody")) and second.claim.text == '"The moon" is made of "rock".'
    assert "label" in ignored and "claim" not in ignored


@pytest.mark.parametrize(
    ("sent", "claims"),
    [
        ("The moon is made of rock.\r\n\r\n  The moon is made of rock.  \n", [BARE.text] * 2),
        ('["The moon is made of rock.", "Rome, too."]', [BARE.text, "Rome, too."]),
        ('{"prompt": "?", "response": "x", "claims": ["The moon is made of rock.", {"claim": "Rome, too."}]}',
         [BARE.text, "Rome, too."]),
        ('{"claims": [{"claim": "The moon is made of rock."}]}\n{"claims": [{"claim": "Rome, too."}]}',
         [BARE.text, "Rome, too."]),
        ("1. The moon is made of rock.\n2) **Rome**, too.[3]", [BARE.text, "Rome, too."]),
        ("[1] The moon is made of rock.\n[2] Rome, too.", [BARE.text, "Rome, too."]),
        ("claim\nParis, the capital of France, is old.\n\"Rome,\" he said, \"too.\"\n",
         ["Paris, the capital of France, is old.", '"Rome," he said, "too."']),
        ("Claim\nThe moon is made of rock.", [BARE.text]),
        ("Paris, Rome and Bonn; all are cities.\nThe claim, date and place are known.",
         ["Paris, Rome and Bonn; all are cities.", "The claim, date and place are known."]),
    ],
)  # fmt: skip
def test_texts_are_claims_line_by_line_and_are_never_cut(sent, claims):
    assert [line.claim.text for line in read_claims(sent.encode()).lines] == claims


def test_a_bad_line_is_reported_by_number_and_the_others_are_kept():
    sent = (
        "claim,speaker\n"
        "Paris, the capital of France, is old,Me\n"
        "\n"
        '"The moon is made of rock.,\n'
        "Rome is old.,You\n"
        "?,\n"
        '"He said "no" to it",Me\n'
        '"The sea ""is"" wet.",,\n'
        + "x" * 200_000
    )  # fmt: skip
    lines = read_claims(sent.encode()).lines
    assert [line.problem.partition(". ")[0] for line in lines] == [
        "Line 2: It has 4 fields, and the header 2",
        f"Line 4: {BAD_QUOTES}",
        "",
        "Line 6: The claim is too short: it needs at least 3 characters.",
        f"Line 7: {BAD_QUOTES}",
        "",
        f"Line 9: {BAD_QUOTES}",
    ]
    assert lines[2] == BatchLine(Claim("Rome is old.", "You")) and lines[5].claim.text == 'The sea "is" wet.'


def test_json_lines_that_are_not_claims_are_reported():
    sent = b'{"claim": "The moon is made of rock."}\n1\n{"claim": 5}\n{\n{"claim": "a\\ud800\\u0000b"}\n{}'
    problems = [line.problem for line in read_claims(sent, "a.jsonl").lines]
    assert problems == [
        "",
        f"Line 2: {NO_OBJECT}",
        "Line 3: The claim must be text.",
        f"Line 4: {NO_OBJECT}",
        "Line 5: The claim is not valid UTF-8 text.",
        "Line 6: Please write a claim.",
    ]


def test_the_text_of_a_bad_line_can_be_stored():
    *_, bad = read_claims(
        b'{"claim": "The moon is made of rock."}\n{"claim": "' + b"\\u0000\\ud800x" * 400 + b'"}'
    ).lines
    assert len(bad.claim.text) == MAX_CLAIM_LENGTH and "\0" not in bad.claim.text and bad.claim.text.encode()


TOO_MANY = "There are more than 10,000 claims, and no more are allowed."


def bomb(content: bytes, parts: int = 1, compression: int = ZIP_DEFLATED) -> bytes:
    """Return a workbook with these parts in addition."""
    stored = io.BytesIO(sheet(ROWS))
    with ZipFile(stored, "a", compression) as packed:
        for number in range(parts):
            packed.writestr(f"xl/media/{number}.xml", content)
    return stored.getvalue()


@pytest.mark.parametrize(
    ("sent", "name", "message"),
    [
        (b"", "", NO_CLAIMS),
        (b"claim,speaker\n", "", NO_CLAIMS),
        (b"[]", "", NO_CLAIMS),
        (b"<html><table><tr><td>Behauptung</td></tr></table>", "a.xls", NO_HEADER),
        (b"Behauptung\nThe moon is made of rock.", "a.csv", NO_HEADER),
        (b"", "a.csv", NO_HEADER),
        (sheet((("Behauptung",), ("Rome is old.",))), "a.xlsx", NO_HEADER),
        (bytes(range(256)), "a.csv", UNREADABLE_TEXT),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "", UNREADABLE_TEXT),
        (b"PK\x03\x04 and no more", "", UNREADABLE_SHEET),
        (b"\xd0\xcf\x11\xe0 of an old format", "a.xls", UNREADABLE_SHEET),
        pytest.param(bomb(bytes(60 * 1024**2)), "a.xlsx", UNREADABLE_SHEET, id="bytes"),
        pytest.param(bomb(b"<si/>" * 600_000), "a.xlsx", UNREADABLE_SHEET, id="tags"),
        pytest.param(bomb(b"x", compression=ZIP_BZIP2), "a.xlsx", UNREADABLE_SHEET, id="bzip2"),
        pytest.param(bomb(b"", 200), "a.xlsx", UNREADABLE_SHEET, id="parts"),
        pytest.param(sheet((*[("",)] * 100, *ROWS)), "a.xlsx", NO_HEADER, id="far header"),
        (b"?\n", "", "There is no good claim in it. Line 1: The claim is too short: it needs at least 3 characters."),
        pytest.param(b"Yes!\n" * (MAX_CLAIMS + 1), "", TOO_MANY, id="many"),
        pytest.param(b"x" * (MAX_BYTES + 1), "", TOO_LARGE, id="large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",  # a workbook has the time in it
)  # fmt: skip
def test_an_unusable_file_is_refused_with_the_reason_in_one_sentence(sent, name, message):
    with pytest.raises(InvalidInput) as caught:
        read_claims(sent, name)
    assert str(caught.value) == message and caught.value.field == "claims"


def test_a_part_of_a_spreadsheet_is_unpacked_to_the_size_that_it_states():
    sent = bytearray(bomb(bytes(60 * 1024**2)))
    struct.pack_into("<I", sent, sent.rindex(b"PK\x01\x02") + 24, 1000)  # the size in the directory of the archive
    tracemalloc.start()
    with suppress(InvalidInput):
        read_claims(bytes(sent), "a.xlsx")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30 * 1024**2


def test_the_maximum_number_of_claims_is_read():
    assert len(read_claims(b"Yes!\n" * MAX_CLAIMS).lines) == MAX_CLAIMS


@pytest.mark.parametrize(
    "piece",
    [
        b'"a\n',
        b'" ',
        b'\\"',
        b'{"a":1},\n',
        b"<td>",
        b"(",
        b'"a,b\n',
        b'"',
        b"[",
        b'{"claims":[',
        b"a,",
        b"\r",
        b"\xff\xfea\0",
    ],
)
def test_files_designed_to_be_slow_are_read_in_linear_time(piece):
    began = time.process_time()
    for start in (b"", b"claim,speaker\n"):
        for name in ("a.csv", "a.json"):
            with suppress(InvalidInput):
                read_claims(start + piece * (1_000_000 // len(piece)), name)
    far = Workbook()
    far.active["A1"], far.active["XFD1048576"] = "claim", "far away"
    stored = io.BytesIO()
    far.save(stored)
    with pytest.raises(InvalidInput):
        read_claims(stored.getvalue(), "a.xlsx")
    assert time.process_time() - began < 8


RESULTS = (
    BatchClaim(1, WHOLE, "verdict", "id", Label.SUPPORTED, 0.9),
    BatchClaim(2, Claim("=HYPERLINK(1)", "@me"), "failed", "other", problem="-1, it said."),
    BatchClaim(3, Claim('He said "no"\tand left.'), "waiting"),
)


def address(claim: BatchClaim) -> dict[str, str]:
    return {"permalink": f"https://example.org/runs/{claim.run_id}"} if claim.run_id else {}


def test_results_in_csv_have_every_column_and_no_formula():
    text = "".join(as_csv(RESULTS, address))
    assert text.startswith("\ufeff"), "without it Excel misreads UTF-8"
    header, *records = csv.reader(io.StringIO(text[1:], newline=""))
    assert tuple(header) == COLUMNS
    assert [record[:9] for record in records] == [
        ["1", WHOLE.text, "Somebody", "2020-10-31", "SUPPORTED", "0.9", "verdict", "", "https://example.org/runs/id"],
        ["2", "'=HYPERLINK(1)", "'@me", "", "", "", "failed", "'-1, it said.", "https://example.org/runs/other"],
        ["3", 'He said "no"\tand left.', "", "", "", "", "waiting", "", ""],
    ]


@pytest.mark.parametrize("first", "=+-@\t\r\uff1d\uff0b\uff0d\uff20")
def test_cells_that_begin_like_a_formula_are_escaped(first):
    *_, record = as_csv([BatchClaim(1, Claim(f"{first}1"), "waiting")], address)
    assert next(csv.reader(io.StringIO(record, newline="")))[1] == f"'{first}1"


def test_results_in_json_lines_are_exact_and_can_be_read_as_claims_again():
    text = "".join(as_jsonl(RESULTS, address))
    first, second, third = map(json.loads, text.splitlines())
    assert (
        tuple(first) == COLUMNS and first["confidence"] == 0.9 and first["permalink"] == "https://example.org/runs/id"
    )
    assert second["claim"] == "=HYPERLINK(1)" and third["permalink"] is None
    assert next(line.claim for line in read_claims(text.encode()).lines) == WHOLE
