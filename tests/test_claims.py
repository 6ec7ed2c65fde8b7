"""What may be a claim."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.claims import LONGEST, SHORTEST, clean_claim
from app.reasoning.errors import InvalidInput


@pytest.mark.parametrize(
    "raw, kept",
    [
        ("  Hamlet was written by Shakespeare. \n", "Hamlet was written by Shakespeare."),
        ("two\r\nlines\tand a tab", "two lines and a tab"),
        ("separated\u2028lines", "separated lines"),
        ("x" * LONGEST, "x" * LONGEST),
        ("abc", "abc"),
        ("Der Öresund ist schmal", "Der Öresund ist schmal"),
        ("地球は丸い", "地球は丸い"),
        ("الأرض كروية", "الأرض كروية"),
        ("👩‍👩‍👧 is a family", "👩‍👩‍👧 is a family"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_any_script_is_kept_as_typed_but_for_the_white_space_around_it(raw, kept):
    assert clean_claim(raw).text == kept


@pytest.mark.parametrize(
    "raw, sentence",
    [
        ("", "Please write a claim."),
        (" \n\t ", "Please write a claim."),
        ("\u200b\u200b\u200b", "Please write a claim."),
        ("ab", "at least 3"),
        ("x" * (LONGEST + 1), "501 characters"),
        ("null\x00byte", "control characters"),
        ("an \x1b[31mescape", "control characters"),
        ("bytes \udcff that were no text", "not valid UTF-8"),
    ],
)
def test_a_bad_claim_is_refused_with_one_sentence_that_says_why(raw, sentence):
    with pytest.raises(InvalidInput, match=sentence) as refusal:
        clean_claim(raw)
    assert refusal.value.field == "claim"
    assert "\n" not in str(refusal.value)


@given(st.text(max_size=LONGEST + 20))
def test_whatever_is_typed_is_either_refused_or_a_clean_claim_that_stays_itself(raw):
    try:
        text = clean_claim(raw).text
    except InvalidInput:
        return
    assert SHORTEST <= len(text) <= LONGEST
    assert text == text.strip() and text.encode()
    assert clean_claim(text).text == text
