"""Validation of claims, speakers and dates."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import InvalidInput
from app.text.claims import (
    MAX_CLAIM_LENGTH,
    MIN_CLAIM_LENGTH,
    clean_claim,
    clean_date,
    clean_speaker,
)

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    "raw, kept",
    [
        ("two\r\nlines\tand a tab", "two lines and a tab"),
        ("Der Öresund ist schmal", "Der Öresund ist schmal"),
        ("الأرض كروية", "الأرض كروية"),
        ("👩‍👩‍👧 is a family", "is a family"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_a_claim_in_any_script_is_kept_as_readers_see_it_without_emoji_and_outer_space(raw, kept):
    assert clean_claim(raw).text == kept


@pytest.mark.parametrize(
    "raw, sentence",
    [
        (" \n\t ", "Please write a claim."),
        ("\u200b\u200b\u200b", "Please write a claim."),
        ("ab", "at least 3"),
        ("x" * (MAX_CLAIM_LENGTH + 1), "501 characters"),
        ("null\x00byte", "control characters"),
        ("an \x1b[31mescape", "control characters"),
    ],
)
def test_an_invalid_claim_is_refused_with_its_reason_in_one_sentence(raw, sentence):
    with pytest.raises(InvalidInput, match=sentence) as refusal:
        clean_claim(raw)
    assert refusal.value.field == "claim"
    assert "\n" not in str(refusal.value)


@given(st.text(max_size=MAX_CLAIM_LENGTH + 20))
def test_any_text_is_refused_or_becomes_a_clean_claim_that_parses_to_itself(raw):
    try:
        text = clean_claim(raw).text
    except InvalidInput:
        return
    assert MIN_CLAIM_LENGTH <= len(text) <= MAX_CLAIM_LENGTH
    assert text == text.strip() and text.encode()
    assert clean_claim(text).text == text


@pytest.mark.parametrize(
    "raw, kept",
    [
        ("", None),
        ("\u200b", None),
        ("  Angela Merkel\n", "Angela Merkel"),
        ("Recep Tayyip Erdoğan", "Recep Tayyip Erdoğan"),
        ("two\r\nlines", "two lines"),
    ],
)
def test_a_speaker_is_kept_verbatim_and_a_blank_one_is_none(raw, kept):
    assert clean_speaker(raw) == kept


@pytest.mark.parametrize(
    "raw, sentence",
    [
        ("x" * 5000, "The speaker has 5000 characters; at most 200 are allowed."),
        ("null\x00byte", "The speaker holds control characters"),
        ("bytes \udcff", "The speaker is not valid UTF-8"),
    ],
)
def test_an_invalid_speaker_is_refused_with_its_reason_in_one_sentence(raw, sentence):
    with pytest.raises(InvalidInput, match=sentence) as refusal:
        clean_speaker(raw)
    assert refusal.value.field == "speaker"


@pytest.mark.parametrize(
    "raw, day",
    [
        ("", None),
        (" 31-10-2020\n", "2020-10-31"),
        ("1 MAY 1999", "1999-05-01"),
        ("03/04/2020", "2020-04-03"),
        ("2020-08-25T10:00:00Z", "2020-08-25"),
        ("20200825", "2020-08-25"),
        ("Tue Aug 25 10:00:00 +0000 2020", "2020-08-25"),
        ("25 августа 2020", "2020-08-25"),
        ("2020年8月25日", "2020-08-25"),
        ("2020.08.25", "2020-08-25"),
        ("Tue, 25 Aug 2020 10:00:00 GMT", "2020-08-25"),
        ("Aug. 25, 2020", "2020-08-25"),
        ("Tuesday, August 25th, 2020", "2020-08-25"),
        ("8/25/2020", "2020-08-25"),
        ("25/08/20", "2020-08-25"),
        ("25. März 2020", "2020-03-25"),
        ("N/A", None),
        ("-", None),
    ],
)
def test_a_date_is_read_day_first_and_written_as_iso(raw, day):
    assert clean_date(raw, TODAY) == day


@pytest.mark.parametrize(
    "raw, sentence",
    [
        ("31-02-2020", "There is no day 31-02-2020."),
        ("May 2020", "Please write the date"),
        ("1598313600", "Please write the date"),
        ("2026-11-23", "The date of the claim, 2026-11-23, is in the future."),
        ("1" * 5000, "Please write the date"),
        ("2020-10-31\x00", "The date holds control characters"),
        ("2020-10-31\udcff", "The date is not valid UTF-8"),
    ],
)
def test_an_invalid_date_is_refused_with_its_reason_in_one_sentence(raw, sentence):
    with pytest.raises(InvalidInput) as refusal:
        clean_date(raw, TODAY)
    assert sentence in str(refusal.value)
    assert refusal.value.field == "date"
    assert len(str(refusal.value)) < 150 and "\n" not in str(refusal.value)


@pytest.mark.parametrize("raw", ["N/A", "none", "null", "-", "Unknown", "nan", "not available"])
def test_a_speaker_that_stands_for_none_is_none(raw):
    assert clean_speaker(raw) is None


@given(st.dates(date(1000, 1, 1), TODAY))
def test_every_day_of_the_last_thousand_years_is_read_in_four_forms(day):
    months = "January February March April May June July August September October November December".split()
    digits = f"{day.day:02}-{day.month:02}-{day.year:04}"
    for written in (
        day.isoformat(),
        digits,
        digits.replace("-", "/"),
        f"{day.day} {months[day.month - 1]} {day.year:04}",
    ):
        assert clean_date(written, TODAY) == day.isoformat()


@given(st.text(max_size=60))
def test_any_text_as_a_date_is_refused_or_becomes_an_iso_date(raw):
    try:
        day = clean_date(raw, TODAY)
    except InvalidInput:
        return
    assert day is None or date.fromisoformat(day) <= TODAY
