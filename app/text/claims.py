"""Validate claims, questions, speakers and dates as people write them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from app.domain.errors import InvalidInput
from app.domain.model import Claim

MIN_CLAIM_LENGTH = 3
MAX_CLAIM_LENGTH = 500
MAX_SPEAKER_LENGTH = 200
MAX_DATE_LENGTH = 50
"""Characters, with surrounding spaces."""

_LINE_BREAK = re.compile("\r\n|[\r\n\t\u2028\u2029]")
_INVISIBLE = frozenset({"Zs", "Cf"})
"""Invisible categories: spaces, and format characters such as zero-width joiners."""

_MONTHS = "january february march april may june july august september october november december".split()
"""Written out because the calendar module uses the machine's language."""
_YEAR_FIRST = re.compile(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})")
_DAY_FIRST = re.compile(r"(?P<day>[0-9]{1,2})([-/])(?P<month>[0-9]{1,2})\2(?P<year>[0-9]{4})")
_WITH_MONTH_NAME = re.compile(
    rf"(?P<day>[0-9]{{1,2}}) +(?P<month>{'|'.join(_MONTHS)}) +(?P<year>[0-9]{{4}})", re.IGNORECASE | re.ASCII
)


def clean_claim(raw: str) -> Claim:
    """Return the claim in `raw`, trimmed, with line breaks and tabs replaced by spaces.

    Raises InvalidInput unless it has MIN_CLAIM_LENGTH to MAX_CLAIM_LENGTH code points; a CRLF counts once.
    """
    text = _one_line(raw, "claim")
    if not text:
        raise InvalidInput("Please write a claim.")
    if len(text) < MIN_CLAIM_LENGTH:
        raise InvalidInput(f"The claim is too short: it needs at least {MIN_CLAIM_LENGTH} characters.")
    if len(text) > MAX_CLAIM_LENGTH:
        raise InvalidInput(f"The claim has {len(text)} characters; at most {MAX_CLAIM_LENGTH} are allowed.")
    return Claim(text)


def clean_question(raw: str) -> str:
    """Return a question, cleaned like a claim. Raises InvalidInput if it is empty or above MAX_CLAIM_LENGTH."""
    text = _one_line(raw, "question")
    if not text:
        raise InvalidInput("Please write a question.", "question")
    if len(text) > MAX_CLAIM_LENGTH:
        raise InvalidInput(
            f"The question has {len(text)} characters; at most {MAX_CLAIM_LENGTH} are allowed.", "question"
        )
    return text


def clean_speaker(raw: str) -> str | None:
    """Return the speaker, cleaned like a claim; None when empty. Raises InvalidInput above MAX_SPEAKER_LENGTH."""
    text = _one_line(raw, "speaker")
    if len(text) > MAX_SPEAKER_LENGTH:
        raise InvalidInput(
            f"The speaker has {len(text)} characters; at most {MAX_SPEAKER_LENGTH} are allowed.", "speaker"
        )
    return text or None


def clean_date(raw: str, today: date) -> str | None:
    """Return the date of the claim as an ISO date; None when empty.

    Four forms are accepted: 2020-10-31, 31-10-2020, 31/10/2020 and 31 October 2020. 03/04/2020 is the third of April.
    Raises InvalidInput for any other text and for days after `today`.
    """
    text = _one_line(raw, "date")
    if not text:
        return None
    written = None
    if len(text) <= MAX_DATE_LENGTH:
        written = _YEAR_FIRST.fullmatch(text) or _DAY_FIRST.fullmatch(text) or _WITH_MONTH_NAME.fullmatch(text)
    if not written:
        raise InvalidInput(
            "Please write the date of the claim like 2020-10-31, 31-10-2020, 31/10/2020 or 31 October 2020.", "date"
        )
    day = _existing_date(written["year"], written["month"].lower(), written["day"])
    if day is None:
        hint = "" if _YEAR_FIRST.fullmatch(text) else "; the day is written before the month"
        raise InvalidInput(f"There is no day {text}{hint}.", "date")
    if day > today:
        raise InvalidInput(f"The date of the claim, {day.isoformat()}, is in the future.", "date")
    return day.isoformat()


def today() -> date:
    """Return the latest current date of all time zones, so that today is in the future in none of them."""
    return (datetime.now(UTC) + timedelta(hours=14)).date()


def parse_claim(raw: str, speaker: str, made_on: str) -> Claim:
    """Return the claim with speaker and date, both of which may be empty. Raises InvalidInput."""
    return replace(clean_claim(raw), speaker=clean_speaker(speaker), date=clean_date(made_on, today()))


def _existing_date(year: str, month: str, day: str) -> date | None:
    """Return the date, or None when it does not exist; the month is a number or a name."""
    number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
    try:
        return date(int(year), number, int(day))
    except ValueError:
        return None


def _one_line(raw: str, field: str) -> str:
    """Return the text on one line, "" when it has no visible character. Raises InvalidInput for invalid text."""
    text = _LINE_BREAK.sub(" ", raw).strip()
    categories = {unicodedata.category(character) for character in text}
    if categories <= _INVISIBLE:
        return ""
    if "Cs" in categories:
        raise InvalidInput(f"The {field} is not valid UTF-8 text.", field)
    if "Cc" in categories:
        raise InvalidInput(f"The {field} holds control characters; please take them out.", field)
    return text
