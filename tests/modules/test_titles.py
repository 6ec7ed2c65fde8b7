"""Titles are looked up as the claim writes them, and not cut at a small word or a mark."""

from __future__ import annotations

import pytest

from app.modules.question_generator.clauses import whole_names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mia Holm had roles in Holm's Ferry and Last Summer.", ["Mia Holm", "Holm's Ferry", "Last Summer"]),
        ("Gulls (The Book) was written by Rui Costa.", ["Gulls (The Book)", "Rui Costa"]),
        ("Anton Berg's Quartet No. 3 in A major was played.", ["Anton Berg", "Quartet No. 3 in A major"]),
        ("Berg's Quartet No. 3 is long.", ["Berg's Quartet No. 3"]),
        ("Costa v. Holm was tried in Lisbon.", ["Costa v. Holm", "Lisbon"]),
        ("Rui Costa read the novel Search for Gulls.", ["Rui Costa", "Search for Gulls"]),
        ("Rui Costa joined the Lisbon Chess Union (LCU).", ["Rui Costa", "Lisbon Chess Union", "LCU"]),
        ("Denmark's President met Anton Berg.", ["Denmark", "President", "Anton Berg"]),
        ("Mia Holm met Holm.", ["Mia Holm", "Holm"]),
    ],
    ids=[
        "apostrophe",
        "bracket",
        "number",
        "composer's number",
        "a case",
        "small word",
        "initials in brackets",
        "a person's office",
        "also alone",
    ],
)
def test_a_title_is_as_long_as_it_is_written(text: str, found: list[str]) -> None:
    assert whole_names(text) == found
