"""Admit web documents as evidence, clean them, choose one and read it (Papelo, arXiv 2411.05762, section 3.2).

All text of searches and pages is cleaned here of what readers do not see; markup is removed where it is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.domain.errors import CallFailed
from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Answer, Claim, Context, Origin, Page, Passage, Question, SearchHit
from app.domain.ports import FreeAnswer, TextGenerator
from app.modules.judging import citation
from app.modules.output_parsing import passage_from
from app.modules.prompting import Quote, few_shot, fill_template, one_line
from app.text.clean import clean_line
from app.text.fact_checkers import is_fact_check
from app.text.options import with_plain_citations
from app.text.sentences import content_words, sentence_spans
from app.text.wording import normalised

# The window of a page around a snippet (Papelo, Algorithm 2): of all windows of WINDOW_SENTENCES sentences that contain
# more than MIN_SNIPPET_SHARE of the snippet's words, the middle one is taken. The last window of the page counts too.

WINDOW_SENTENCES = 5
MIN_SNIPPET_SHARE = 0.7
MAX_PAGE_LENGTH = 200_000
"""Characters of a page that are searched for the window, which takes 0.2 s of one core."""
MAX_SENTENCE_WORDS = 100
"""A longer sentence is a table or a list without full stops, and is split into pieces of this length."""
_PIECE = re.compile(rf"\S+(?:\s+\S+){{0,{MAX_SENTENCE_WORDS - 1}}}")


def window_for(text: str, snippet: str, question: str) -> str | None:
    """Return the window of `text` around the snippet, or without a snippet the one like the question."""
    windows = _windows(text[:MAX_PAGE_LENGTH])
    wanted = frozenset(words(snippet))
    if wanted:
        holding = [window for window, found in windows if len(wanted & found) / len(wanted) > MIN_SNIPPET_SHARE]
        return holding[len(holding) // 2] if holding else None
    asked = content_words(normalised(question))
    return max(windows, key=lambda each: len(asked & each[1]), default=(None, None))[0]


def words(text: str) -> list[str]:
    """Return the words of `text`, normalised for comparison."""
    return normalised(text.replace("’", "'")).split()


def _windows(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return every run of WINDOW_SENTENCES sentences with its words, in order; a shorter text is one window."""
    spans = [
        (start + piece.start(), start + piece.end())
        for start, end in sentence_spans(text)
        for piece in _PIECE.finditer(text[start:end])
    ]
    if not spans:
        return []
    window_words = [frozenset(words(text[start:end])) for start, end in spans]
    last = max(len(spans) - WINDOW_SENTENCES, 0)
    return [
        (
            text[spans[at][0] : spans[min(at + WINDOW_SENTENCES, len(spans)) - 1][1]],
            frozenset().union(*window_words[at : at + WINDOW_SENTENCES]),
        )
        for at in range(last + 1)
    ]


MAX_TITLE_LENGTH, MAX_SNIPPET_LENGTH = 300, 2_000
_ADDRESSES = ("http://", "https://")


def day_of(published: str | None) -> date | None:
    """Return the day of an ISO date or time; None for anything else, including a year or a month alone."""
    try:
        return date.fromisoformat((published or "")[:10])
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class EvidenceRules:
    """The rules that admit documents as evidence for one claim."""

    before: date | None = None  # the claim's date; a document must be dated before that day
    undated: bool = True  # whether documents without a date are admitted for a dated claim
    fact_checks: bool = True  # whether documents of fact-checkers are admitted

    @classmethod
    def for_claim(cls, claim: Claim, undated: bool, fact_checks: bool) -> EvidenceRules:
        """Return the rules for a claim. Raises CallFailed if its date is unreadable: no document could be excluded."""
        before = day_of(claim.date)
        if claim.date is not None and before is None:
            raise CallFailed("The date of the claim cannot be read, so nothing was searched for.")
        return cls(before, undated, fact_checks)

    def admits(self, url: str | None, published: str | None, is_marked: bool = False) -> bool:
        """Return whether a document of this address and date, and marked as a fact-check or not, may be evidence."""
        if not self.fact_checks and (is_marked or is_fact_check(url)):
            return False
        day = day_of(published)
        return self.before is None or (self.undated if day is None else day < self.before)

    def may_admit(self, hit: SearchHit) -> bool:
        """Return whether the hit's page may be admissible; the page of an undated hit may have a date."""
        return replace(self, undated=True).admits(hit.url, hit.published)


def clean_hits(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """Return the cleaned hits, each once, without those whose address is not HTTP; documents may have no address."""
    shown = (
        replace(
            hit,
            title=clean_line(hit.title)[:MAX_TITLE_LENGTH],
            site=clean_line(hit.site)[:MAX_TITLE_LENGTH],
            snippet=clean_line(hit.snippet)[:MAX_SNIPPET_LENGTH],
            published=_shown_day(hit.published),
        )
        for hit in hits
        if not hit.url or hit.url.lower().startswith(_ADDRESSES)
    )
    return list(dict.fromkeys(shown))


def clean_page(page: Page, hit: SearchHit) -> Page:
    """Return the cleaned page; properties that it lacks are taken from its hit."""
    return replace(
        page,
        url=page.url if page.url.lower().startswith(_ADDRESSES) else hit.url,
        title=clean_line(page.title)[:MAX_TITLE_LENGTH] or hit.title,
        site=clean_line(page.site)[:MAX_TITLE_LENGTH] or hit.site,
        text=clean_line(page.text[:MAX_PAGE_LENGTH]),
        published=_shown_day(page.published) or hit.published,
    )


def _shown_day(published: str | None) -> str | None:
    day = day_of(published)
    return day.isoformat() if day else None


def passage_of_hit(hit: SearchHit, origin: Origin) -> Passage:
    """Return the hit as a passage; its title replaces a missing snippet."""
    text, described = (hit.snippet, hit.described) if hit.snippet else (hit.title, 0)
    return Passage(text, hit.title, hit.site, hit.url or None, hit.published, origin, described=described)


def passage_of_page(page: Page, text: str, origin: Origin) -> Passage:
    described = page.described if text.startswith(page.text[: page.described]) else 0
    return Passage(text, page.title, page.site, page.url or None, page.published, origin, described=described)


MAX_SNIPPET_WORDS = 80
"""Words of each snippet in the prompt, which lists up to ten; longer ones, such as corpus passages, are cut."""
NONE = "None"


@dataclass(frozen=True)
class PromptedChooser:
    """Implements `DocumentChooser` over a language model. The prompt describes each hit and leaves the claim out."""

    model: TextGenerator

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer:
        """Return the hit that the model chooses, or no answer if it chooses none. Propagates errors of the model."""
        report_phase(Code.CHOOSING_DOCUMENT(count=len(hits)))
        names = _numbered(hits)
        chosen = self.model.choose(choosing_prompt(question, hits), (*names, NONE)).option
        return FreeAnswer("") if chosen == NONE else hits[names.index(chosen)]


def choosing_prompt(question: Question, hits: Sequence[SearchHit]) -> str:
    """Return the prompt: the hits, numbered from 1 and quoted, and the instruction to choose one."""
    described = [
        description(hit.title, hit.site, hit.published, " ".join(hit.snippet.split()[:MAX_SNIPPET_WORDS]))
        for hit in hits
    ]
    return _with_documents("choosing", question, _numbered(hits), described)


def _with_documents(form: str, question: Question, names: Sequence[str], described: Sequence[str], **more: str) -> str:
    """Return the prompt with a line for each document, which quotes its description."""

    def case(quote: Quote) -> str:
        documents = "\n".join(f"{name} = {quote(each)}" for name, each in zip(names, described, strict=True))
        return fill_template(form, documents=documents, question=one_line(question.text), **more)

    return few_shot((), case, described)


def _numbered(documents: Sequence[object]) -> list[str]:
    return [f"Document {number}" for number in range(1, len(documents) + 1)]


def description(title: str, site: str, published: str | None, text: str) -> str:
    """Return the known properties of a document on one line; empty ones are left out."""
    parts = (("Title", title), ("Site", site), ("Date", published), ("Text", text))
    return "; ".join(f"{name}: {one_line(part)}" for name, part in parts if part)


NAME = "prompted reader"
MAX_TOKENS = 160
MAX_ANSWER_WORDS = 80
CITE = "End with the number of the document that says so, like [2]."
_CITED = re.compile(r"\s*\[(\d{1,3})[\d, ]*\]")


@dataclass(frozen=True)
class PromptedReader:
    """Implements `Reader` over a language model, whose answers need not be copied from the documents."""

    model: TextGenerator

    def read(
        self, question: Question, passages: Sequence[Passage], claim: Claim | None = None, context: Context = ()
    ) -> Answer:
        """Return the model's answer from the passages, with text None if they do not contain one.

        Of several passages, the answer cites the one whose number the model gives, or none without a valid number. The
        cited span is the answer's occurrence in the passage, or the sentence nearest to it. Propagates
        errors of the model.
        """
        if not passages:
            return Answer(None, answerer=NAME)
        reply = with_plain_citations(self.model.complete(document_prompt(question, passages), max_tokens=MAX_TOKENS))
        text = passage_from(_CITED.sub("", reply), MAX_ANSWER_WORDS)
        if text is None:
            return Answer(None, retrieved=tuple(passages), answerer=NAME)
        numbers = [1] if len(passages) == 1 else map(int, _CITED.findall(reply))
        place = next((number for number in numbers if 1 <= number <= len(passages)), None)
        if place is None:
            return Answer(text, None, tuple(passages), NAME)
        return Answer(text, citation(text, question.text, passages[place - 1 : place]), tuple(passages), NAME)


def document_prompt(question: Question, passages: Sequence[Passage]) -> str:
    described = [description(each.title, each.source, each.published, each.text) for each in passages]
    if len(passages) == 1:
        return _with_documents("document", question, ["Document"], described, cite="")
    return _with_documents("document", question, _numbered(passages), described, cite=CITE)
