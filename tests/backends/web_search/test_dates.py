"""Publication dates are read in the words and numbers of any language, never as older than they may be."""

from __future__ import annotations

import pytest

from app.backends.web_search.registry import parse_date
from tests.backends.web_search.searching_at import TODAY


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2026-09-01", "2026-09-01"),
        ("2026-09-01T23:59:59+05:30", "2026-09-01"),
        ("Tue, 01 Sep 2026 08:00:00 GMT", "2026-09-01"),
        ("5 seconds ago", "2026-11-22"),
        ("48 hours ago", "2026-11-20"),
        ("one month ago", "2026-10-31"),
        ("2 years ago", "2024-12-31"),
        ("Aug. 25, 2020", "2020-08-25"),
        ("31-10-2020", "2020-10-31"),
        ("20260901", "2026-09-01"),
        ("1598313600", "2020-08-25"),
        ("yesterday", "2026-11-21"),
        ("2d", "2026-11-20"),
        ("vor 3 Tagen", "2026-11-19"),
        ("昨天", "2026-11-21"),
        ("2020年9月1日", "2020-09-01"),
        ("03/04/2026", "2026-04-03"),
        ("September 2020", "2020-09-30"),
        ("2025", "2025-12-31"),
    ],
)
def test_a_date_is_read(said, day):
    assert parse_date(said, TODAY) == day


@pytest.mark.parametrize(
    "said",
    [
        None,
        ["2026-09-01"],
        "soon",
        "12",
        "2026-02-30",
        "9999 years ago",
        "3 days ago" * 20,
    ],
)
def test_other_texts_are_not_dates(said):
    assert parse_date(said, TODAY) is None
