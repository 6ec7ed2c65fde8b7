"""Admit web documents as evidence by date, site and address, clean them, and turn them into passages.

Text from a search or a page is cleaned here, once, before a model or a user sees it (app/text/wording.py).

One document of the hits is chosen by a language model or by the reader's score (Papelo, section 3.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.domain.errors import CallFailed, UnparseableOutput
from app.domain.instrumentation import entered
from app.domain.model import Answer, Claim, Origin, Page, Passage, Question, SearchHit
from app.domain.ports import FreeAnswer, Reader, TextGenerator
from app.modules.answerers.reciter_reader import answer_in
from app.modules.output_parsing import passage_from
from app.modules.prompting import few_shot, filled, one_line
from app.text.fact_checkers import is_fact_check
from app.text.sentences import content_words, sentence_spans
from app.text.wording import normalised, visible_text

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
    window_words = [frozenset(words(text[start:end])) for start, end in spans]
    last = max(len(spans) - SENTENCES, 0)
    return [
        (
            text[spans[at][0] : spans[min(at + SENTENCES, len(spans)) - 1][1]],
            frozenset().union(*window_words[at : at + SENTENCES]),
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


MAX_CHOICE_TOKENS = 256
SNIPPET_WORDS = 80
"""Words shown of each hit: ten must fit, and a corpus passage is longer than a search engine's snippet."""
_NUMBER = r"#?\d{1,3}(?!\d|[.,]\d)"
_DOCUMENT = r"\bdoc(?:ument)?s?\b[\s#:*\[(]*"
_AND = r"[\])*]*\s*(?:,|&|\band\b|\bor\b)[\s,]*(?:\b(?:and|or)\b)?\s*"
_MENTION = re.compile(rf"{_DOCUMENT}{_NUMBER}(?:{_AND}(?:{_DOCUMENT})?[\s#*\[(]*{_NUMBER})*", re.IGNORECASE)
_NUMBER_ALONE = re.compile(rf"\W*{_NUMBER}\W*")


@dataclass(frozen=True)
class PromptedChooser:
    """Implements `DocumentChooser` over a language model, which sees the description of each hit but not the claim."""

    model: TextGenerator

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer:
        """Return the hit that the model names, or its whole reply as an answer if it names none.

        If the reply names a document that does not exist, or is empty, the model is asked once more. Raises
        UnparseableOutput if that happens again, and propagates errors of the model.
        """
        entered(f"choosing one of {len(hits)} documents")
        for also in ("", f"There are only {len(hits)} documents."):
            reply = one_line(self.model.complete(choosing_prompt(question, hits, also), max_tokens=MAX_CHOICE_TOKENS))
            mentions = _mentions(reply)
            if number := _first_in_range(mentions, len(hits)):
                return hits[number - 1]
            if reply and not mentions:
                return FreeAnswer(reply)
        raise UnparseableOutput(f"{self.model.name} chose none of the documents that were found.")


def _mentions(reply: str) -> list[str]:
    """Return the parts of the reply that name documents by number; a reply that is only a number counts too."""
    found = [match.group() for match in _MENTION.finditer(reply)]
    return found or ([reply] if _NUMBER_ALONE.fullmatch(reply) else [])


def _first_in_range(mentions: Sequence[str], count: int) -> int | None:
    """Return the chosen number between 1 and `count`: "Document 3", or the last of "Documents 1, 2 and 3".

    Of separate mentions, the first with a number in range counts.
    """
    for mention in mentions:
        numbers = [int(digits) for digits in re.findall(r"\d+", mention) if 1 <= int(digits) <= count]
        if numbers:
            return numbers[-1]
    return None


def choosing_prompt(question: Question, hits: Sequence[SearchHit], also: str = "") -> str:
    """Return the prompt: the hits, numbered from 1, each between marks, and the instructions to choose one."""
    described = [
        description(hit.title, hit.site, hit.published, " ".join(hit.snippet.split()[:SNIPPET_WORDS])) for hit in hits
    ]
    return few_shot(
        (),
        lambda quote: filled(
            "choosing",
            documents="\n".join(f"Document {at} = {quote(each)}" for at, each in enumerate(described, 1)),
            question=one_line(question.text),
            also=also,
        ),
        described,
    )


def description(title: str, site: str, published: str | None, text: str) -> str:
    """Return the known properties of a document on one line; empty ones are left out."""
    parts = (("Title", title), ("Site", site), ("Date", published), ("Text", text))
    return "; ".join(f"{name}: {one_line(part)}" for name, part in parts if part)


@dataclass(frozen=True)
class ReaderChooser:
    """Implements `DocumentChooser` without a language model: the snippet most likely to contain an answer."""

    reader: Reader

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer:
        """Return the hit whose snippet the reader scores best; the search's order breaks ties.

        Each snippet is read separately, since a reader over several gives the score of the best one only. Propagates
        errors of the reader.
        """
        entered(f"choosing one of {len(hits)} documents")
        return max(hits, key=lambda hit: self._score(question, hit))

    def _score(self, question: Question, hit: SearchHit) -> float:
        return self.reader.read(question, (passage_of_hit(hit, Origin.WEB),)).score if hit.snippet else 0.0


# A reader over a language model, whose answer need not be copied word for word from the documents.

NAME = "prompted reader"
MAX_TOKENS = 160
ANSWER_WORDS = 80
CITE = "End with the number of the document that says so, like [2]."
_CITED = re.compile(r"\s*\[(?:documents? )?(\d{1,3})\]", re.IGNORECASE)
_SAYS_NOTHING = re.compile(
    r"(?:(?:the|this|these|none of the) )?(?:\w+ )?(?:documents?|passages?|texts?|pages?|snippets?)"
    r" (?:(?:do|does)(?: not|n[’']t) |here )?(?:say|state|mention|contain|provide|answer|give|specify|include)s?\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|none|no)\b|n[’']t\b", re.IGNORECASE)


@dataclass(frozen=True)
class PromptedReader:
    """Implements `Reader` over a language model."""

    model: TextGenerator

    def read(self, question: Question, passages: Sequence[Passage]) -> Answer:
        """Return the model's answer from the passages, with text None if they give none.

        It cites the place of its words in a passage, or the whole passage if they do not occur literally. Of several
        passages it cites the one whose number the model gives; without a valid number, nothing is cited. Propagates
        errors of the model.
        """
        if not passages:
            return Answer(None, answerer=NAME)
        reply = self.model.complete(document_prompt(question, passages), max_tokens=MAX_TOKENS)
        text = passage_from(_CITED.sub("", reply), ANSWER_WORDS)
        if text is None or says_nothing(text):
            return Answer(None, retrieved=tuple(passages), answerer=NAME)
        place = 1 if len(passages) == 1 else _cited_number(reply, len(passages))
        if place is None:
            return Answer(text, None, tuple(passages), NAME)
        return Answer(text, answer_in(passages[place - 1], text, NAME).cited, tuple(passages), NAME)


def document_prompt(question: Question, passages: Sequence[Passage]) -> str:
    """Return the prompt: the passages, each described between marks, and the question."""
    described = [description(each.title, each.source, each.published, each.text) for each in passages]
    names = ["Document"] if len(passages) == 1 else [f"Document {number}" for number in range(1, len(passages) + 1)]
    return few_shot(
        (),
        lambda quote: filled(
            "document",
            documents="\n".join(f"{name} = {quote(each)}" for name, each in zip(names, described, strict=True)),
            question=one_line(question.text),
            cite=CITE if len(passages) > 1 else "",
        ),
        described,
    )


def says_nothing(text: str) -> bool:
    """Return whether the text begins by stating that the documents do not give the answer."""
    opening = _SAYS_NOTHING.match(text)
    return bool(opening and _NEGATED.search(opening.group()))


def _cited_number(reply: str, count: int) -> int | None:
    return next((int(number) for number in _CITED.findall(reply) if 1 <= int(number) <= count), None)
