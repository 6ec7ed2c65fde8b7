"""Files of claims are read in three formats, invalid lines are named by number, and results are safe to open."""

from __future__ import annotations

import csv
import io
import json

import pytest

from app.batches.files import (
    COLUMNS,
    JSON_ARRAY,
    MAX_BYTES,
    MAX_CLAIMS,
    NO_CLAIMS,
    NO_HEADER,
    TOO_LARGE,
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


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("a.csv", 'claim,speaker,date\n"Hamlet, the play, is old.",Somebody,31-10-2020\nThe moon is made of rock.\n'),
        ("", 'claim;date;speaker\nHamlet, the play, is old.;2020-10-31;Somebody\n\n"The moon is made\nof rock."\n'),
        ("a.TSV", " Claim \tother\tSPEAKER\tdate\r\nHamlet, the play, is old.\tx\tSomebody\t31 October 2020\r\n"
         "The moon is made of rock.\r\n"),
        ("a.jsonl", '{"claim": "Hamlet, the play, is old.", "speaker": "Somebody", "date": "2020-10-31", "id": 7}\n\n'
         '{"claim": "The moon is made of rock.", "speaker": null}'),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_claims_are_read_with_speaker_and_date_from_every_format(name, sent, mark):
    assert read_claims((mark + sent).encode(), name) == (BatchLine(WHOLE), BatchLine(BARE))


def test_pasted_text_has_one_claim_per_line_and_may_repeat_claims():
    sent = b"The moon is made of rock.\r\n\r\n  The moon is made of rock.  \n"
    assert read_claims(sent) == (BatchLine(BARE), BatchLine(BARE))


def test_a_bad_line_is_reported_by_number_and_the_others_are_kept():
    sent = b"claim,speaker,date\nThe moon is made of rock.\n?,,\n\nThe sea is wet.,Me,tomorrow\n"
    good, short, undated = read_claims(sent)
    assert good == BatchLine(BARE)
    assert short == BatchLine(Claim("?"), "Line 3: The claim is too short: it needs at least 3 characters.")
    assert undated.problem.startswith("Line 5: Please write the date of the claim like 2020-10-31")


def test_an_empty_first_column_name_of_a_tab_separated_file_is_kept():
    sent = b"\tclaim\tspeaker\n0\tThe moon is made of rock.\tSomebody\n"
    assert read_claims(sent) == (BatchLine(Claim(BARE.text, "Somebody")),)


def test_blank_lines_before_the_header_count_in_the_numbers_of_lines():
    *_, short = read_claims(b"\n \t \r\nclaim,speaker\nThe moon is made of rock.,\n?,\n")
    assert short.problem.startswith("Line 5: The claim is too short")


def test_json_lines_that_are_not_claims_are_reported():
    sent = b'{"claim": "The moon is made of rock."}\n[1]\n{"claim": 5}\n{\n{"claim": "a\\ud800\\u0000b"}\n{}'
    problems = [line.problem for line in read_claims(sent, "a.jsonl")]
    assert problems == [
        "",
        "Line 2: It is no JSON object.",
        "Line 3: The claim must be text.",
        "Line 4: It is no JSON object.",
        "Line 5: The claim is not valid UTF-8 text.",
        "Line 6: Please write a claim.",
    ]


def test_the_text_of_a_bad_line_can_be_stored():
    *_, bad = read_claims(b'{"claim": "The moon is made of rock."}\n{"claim": "' + b"\\u0000\\ud800x" * 400 + b'"}')
    assert len(bad.claim.text) == MAX_CLAIM_LENGTH and "\0" not in bad.claim.text and bad.claim.text.encode()


@pytest.mark.parametrize(
    ("sent", "name", "message"),
    [
        (b"", "", NO_CLAIMS),
        (b"claim,speaker\n", "", NO_CLAIMS),
        (b"statement\nThe moon is made of rock.", "a.csv", NO_HEADER),
        (b"", "a.csv", NO_HEADER),
        (b"caf\xe9 is a word.", "", "The claims must be text in UTF-8; what arrived was not."),
        (
            b"?\n!\n",
            "",
            "There is no good claim in it. Line 1: The claim is too short: it needs at least 3 characters.",
        ),
        (b"claim\nThe moon is round.\n" + b"x" * 200_000, "a.csv", "Line 3 cannot be read as CSV."),
        (b"Yes!\n" * (MAX_CLAIMS + 1), "", "There are more than 10,000 claims, and no more are allowed."),
        (b"x" * (MAX_BYTES + 1), "", TOO_LARGE),
        (b'[\n  {\n    "claim": "The moon is made of rock."\n  }\n]\n', "a.json", JSON_ARRAY),
        (b'[{"claim": "The moon is made of rock."}]', "", JSON_ARRAY),
    ],
)
def test_an_unusable_file_is_refused_with_the_reason_in_one_sentence(sent, name, message):
    with pytest.raises(InvalidInput) as caught:
        read_claims(sent, name)
    assert str(caught.value) == message and caught.value.field == "claims"


def test_the_maximum_number_of_claims_is_read():
    assert len(read_claims(b"Yes!\n" * MAX_CLAIMS)) == MAX_CLAIMS


RESULTS = (
    BatchClaim(1, WHOLE, "verdict", "id", Label.SUPPORTED, 0.9),
    BatchClaim(2, Claim("=HYPERLINK(1)", "@me"), "failed", "other", problem="-1, it said."),
    BatchClaim(3, Claim('He said "no"\tand left.'), "waiting"),
)


def address(claim: BatchClaim) -> dict[str, str]:
    return {"permalink": f"https://example.org/runs/{claim.run_id}"} if claim.run_id else {}


def test_results_in_csv_have_every_column_and_no_formula():
    text = "".join(as_csv(RESULTS, address))
    header, *records = csv.reader(io.StringIO(text, newline=""))
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
    assert next(line.claim for line in read_claims(text.encode())) == WHOLE
