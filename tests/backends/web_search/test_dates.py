"""Publication dates are read in the documented formats only."""

from __future__ import annotations

import pytest

from app.backends.web_search.registry import parse_date
from tests.backends.web_search.searching_at import TODAY


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2026-09-01", "2026-09-01"),
        ("2026-09-01T00:00:00", "2026-09-01"),
        ("2026-09-01T23:59:59.123Z", "2026-09-01"),
        ("2026-09-01T23:59:59+05:30", "2026-09-01"),
        ("2026-09-01 08:00:00+0000", "2026-09-01"),
        (" 2026-09-01 ", "2026-09-01"),
        ("Tue, 01 Sep 2026 08:00:00 GMT", "2026-09-01"),
        ("September 1, 2026", "2026-09-01"),
        ("Sep 1, 2026", "2026-09-01"),
        ("1 Sep 2026", "2026-09-01"),
        ("1 September 2026", "2026-09-01"),
        ("5 seconds ago", "2026-11-22"),
        ("14 mins ago", "2026-11-22"),
        ("an hour ago", "2026-11-22"),
        ("23 hours ago", "2026-11-22"),
        ("48 hours ago", "2026-11-20"),
        ("1 day ago", "2026-11-21"),
        ("3 days ago", "2026-11-19"),
        ("1 week ago", "2026-11-15"),
        ("2 Weeks ago", "2026-11-08"),
        ("one month ago", "2026-10-25"),
        ("2 years ago", "2024-11-22"),
    ],
)
def test_a_documented_format_is_read(said, day):
    assert parse_date(said, TODAY) == day


@pytest.mark.parametrize(
    "said",
    [
        None,
        20260901,
        ["2026-09-01"],
        "",
        "soon",
        "2026",
        "2026-09",
        "2026-02-30",
        "2026-09-011",
        "03/04/2026",
        "31-10-2020",
        "February 30, 2026",
        "Tue, 41 Sep 2026 08:00:00 GMT",
        "Tue, 01 Foo 2026",
        "3 days",
        "9999 years ago",
        "in 3 days",
        "3 days ago" * 20,
    ],
)
def test_other_texts_are_not_dates(said):
    assert parse_date(said, TODAY) is None
