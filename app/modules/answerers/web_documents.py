"""Admit web documents as evidence by date, site and address, clean them, and turn them into passages.

Text from a search or a page is cleaned here, once, before a model or a user sees it (app/text/normalise.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from app.domain.errors import CallFailed
from app.domain.model import Claim, Origin, Page, Passage, SearchHit
from app.modules.wording import normalised
from app.text.evidence import content_words
from app.text.fact_checkers import is_fact_check
from app.text.normalise import visible_text
from app.text.sentences import sentence_spans

# The window of a page that matches a snippet (Papelo, Algorithm 2): all windows of five sentences with more than 70% of
# the snippet's words are collected in page order, including the last window of the page, and the middle one is taken.
# Words are compared without case, accents and punctuation.

SENTENCES = 5
SHARE = 0.7
PAGE_CHARACTERS = 200_000
"""Characters of a page that are searched; English text of this length takes 0.2 s of one core."""
LONGEST_SENTENCE = 100
"""Words; longer text without a full stop is a table or a list, and is split so that five pieces stay a window."""


def window_for(text: str, snippet: str, question: str) -> str | None:
    """Return the window of `text` that the snippet is from; None if there is none.

    Without a snippet the place is unknown, so the window nearest to the question is taken; the first wins a tie.
    """
    windows = _windows(text[:PAGE_CHARACTERS])
    wanted = frozenset(words(snippet))
    if wanted:
        holding = [window for window, found in windows if len(wanted & found) / len(wanted) > SHARE]
        return holding[len(holding) // 2] if holding else None
    asked = content_words(normalised(question))
    return max(windows, key=lambda each: len(asked & each[1]), default=(None, None))[0]


def words(text: str) -> list[str]:
    """Return the words of `text`, normalised for comparison."""
    return normalised(text.replace("’", "'")).split()


def _windows(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return every run of SENTENCES sentences with its words, in order; one window if there are fewer."""
    spans = [piece for span in sentence_spans(text) for piece in _pieces(text, *span)]
    told = [frozenset(words(text[start:end])) for start, end in spans]
    last = max(len(spans) - SENTENCES, 0)
    return [
        (
            text[spans[at][0] : spans[min(at + SENTENCES, len(spans)) - 1][1]],
            frozenset().union(*told[at : at + SENTENCES]),
        )
        for at in range(last + 1)
        if spans
    ]


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Split the sentence [start, end) into pieces of at most LONGEST_SENTENCE words."""
    sentence = text[start:end]
    if len(sentence.split()) <= LONGEST_SENTENCE:
        return [(start, end)]
    bounds, at = [start], start
    for number, word in enumerate(sentence.split()):
        at = text.index(word, at)
        if number and number % LONGEST_SENTENCE == 0:
            bounds.append(at)
        at += len(word)
    return list(zip(bounds, [*bounds[1:], end], strict=True))


TITLE_CHARACTERS, SNIPPET_CHARACTERS = 300, 2_000
_ADDRESSES = ("http://", "https://")


def day_of(published: str | None) -> date | None:
    """Return the day of an ISO date or time; None for anything else, including a year or a month alone."""
    try:
        return date.fromisoformat((published or "")[:10])
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Admission:
    """The rules that admit documents as evidence for one claim.

    `before` is the claim's date: a document must be dated before that day. `undated` admits documents without a date
    as well, `fact_checks` those of fact-checkers.
    """

    before: date | None = None
    undated: bool = True
    fact_checks: bool = True

    @classmethod
    def for_claim(cls, claim: Claim, undated: bool, fact_checks: bool) -> Admission:
        """Return the rules for a claim. Raises CallFailed for an unreadable date: later documents could be found."""
        if claim.date is None:
            return cls(None, undated, fact_checks)
        before = day_of(claim.date)
        if before is None:
            raise CallFailed("The date of the claim cannot be read, so nothing was searched for.")
        return cls(before, undated, fact_checks)

    def admits(self, url: str | None, published: str | None) -> bool:
        """Return whether a document with this address and date may be evidence."""
        return self._of_known_kind(url) and self._in_time(published, self.undated)

    def may_admit(self, hit: SearchHit) -> bool:
        """Return whether the hit's page may be admissible: the page of an undated hit may have a date."""
        return self._of_known_kind(hit.url) and self._in_time(hit.published, True)

    def _of_known_kind(self, url: str | None) -> bool:
        return self.fact_checks or not is_fact_check(url)

    def _in_time(self, published: str | None, undated: bool) -> bool:
        if self.before is None:
            return True
        day = day_of(published)
        return undated if day is None else day < self.before


def cleaned_hits(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """Return the hits cleaned for display, each once. A hit whose address is no web address is left out.

    An empty address is kept, since documents of a corpus may have none.
    """
    shown = (_cleaned(hit) for hit in hits if not hit.url or hit.url.lower().startswith(_ADDRESSES))
    return list(dict.fromkeys(shown))


def _cleaned(hit: SearchHit) -> SearchHit:
    return replace(
        hit,
        title=visible_text(hit.title)[:TITLE_CHARACTERS],
        site=visible_text(hit.site)[:TITLE_CHARACTERS],
        snippet=visible_text(hit.snippet)[:SNIPPET_CHARACTERS],
        published=_shown_day(hit.published),
    )


def cleaned_page(page: Page, hit: SearchHit) -> Page:
    """Return the page cleaned for display; properties that it lacks are taken from its hit."""
    title, site = visible_text(page.title)[:TITLE_CHARACTERS], visible_text(page.site)[:TITLE_CHARACTERS]
    return Page(
        page.url if page.url.lower().startswith(_ADDRESSES) else hit.url,
        title or hit.title,
        site or hit.site,
        visible_text(page.text[:PAGE_CHARACTERS]),
        _shown_day(page.published) or hit.published,
    )


def _shown_day(published: str | None) -> str | None:
    day = day_of(published)
    return day.isoformat() if day else None


def passage_of_hit(hit: SearchHit, origin: Origin) -> Passage:
    """Return the hit as a passage; its title replaces a missing snippet."""
    return Passage(hit.snippet or hit.title, hit.title, hit.site, hit.url or None, hit.published, origin)


def passage_of_page(page: Page, text: str, origin: Origin) -> Passage:
    """Return `text`, a part of the page, as a passage."""
    return Passage(text, page.title, page.site, page.url or None, page.published, origin)
