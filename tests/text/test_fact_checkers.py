"""Recognizing the addresses of fact-checkers."""

from __future__ import annotations

import pytest

from app.text.fact_checkers import is_fact_check


@pytest.mark.parametrize(
    "url",
    [
        "https://www.snopes.com/fact-check/moon-cheese/",
        "http://SNOPES.com:80/x",
        "snopes.com/x",
        "https://factcheck.afp.com/doc.afp.com.1",
        "https://www.reuters.com/fact-check/some-claim-2024-01-01/",
        "https://www.reuters.com/article/factcheck/x",
        "https://a-paper.example/fact%2Dcheck",
        "https://web.archive.org/web/20201031000000/https://www.snopes.com/fact-check/x",
        "https://correctiv.org/faktencheck/2020/x",
        "https://factcheck.a-paper.example/no-ship-sank",
        "https://a-paper.example/fact_check_ships.html",
        "https://a-paper.example/article/uk-factcheck-ships-idUSKBN22P22I",
        "https://a-paper.example/faktencheck-schiffe",
    ],
)
def test_a_fact_checkers_page_is_recognized_by_site_section_or_name(url: str) -> None:
    assert is_fact_check(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://www.reuters.com/world/x",
        "https://notsnopes.com/x",
        "https://snopes.com.example.org/x",
        "https://example.org/?from=https://www.snopes.com/x",
        "https://example.org/how-fact-checkers-work",
        "https://example.org/ships-sent-after-fact-checks-of-the-port",
        "https://factchecked.example.org/x",
        "https://social.example/FactCheckShips/status/1",
        "https://archive.ph/2020/https://example.org/x",
        "https://en.wikipedia.org/wiki/Snopes",
        "https://[::1",
        None,
    ],
)
def test_other_pages_are_not_fact_checks(url: str | None) -> None:
    """A name inside another name, in a query or in a title does not count; nor does an invalid URL."""
    assert not is_fact_check(url)
