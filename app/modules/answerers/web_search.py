"""The web-search answerer: search, choose a document, read around its snippet, answer (Papelo, Algorithm 2).

    hits = search(claim and question), or only the names in them if that finds nothing
    hit  = the best document of ten
    text = the five sentences of its page that the snippet is from; the snippet if the page is unavailable
    answer from the text, citing the page

Documents dated on or after the claim's day are not read, and the date on a page overrides the one that the search
gives. A failed call raises: a provider's error message is never an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from app.domain.errors import CallFailed
from app.domain.instrumentation import report_fact_checks, report_phase, report_problem
from app.domain.messages import Code, Words
from app.domain.model import CORPUS_SEARCH, Answer, Claim, Context, Origin, Passage, Question, RunOptions, SearchHit
from app.domain.ports import DocumentChooser, FreeAnswer, PageReader, QuestionAnswerer, Reader, WebSearch
from app.modules.answerers import AnswererKind, AnswererParts
from app.modules.answerers.web_documents import (
    EvidenceRules,
    PromptedChooser,
    PromptedReader,
    clean_hits,
    clean_page,
    passage_of_hit,
    passage_of_page,
    window_for,
)
from app.modules.paper_prompts import PapeloChooser, PapeloReader
from app.strategies.speculation import Speculation
from app.text.sentences import is_common_word, sentences
from app.text.wording import names

if TYPE_CHECKING:
    from app.config.settings import Settings

# Queries: claim and question, and if that finds nothing, only the names in them (Papelo, section 3.2).
#
# A name is a run of capitalised words in any script that has capitals. The first word of a sentence is always
# capitalised, so by itself it counts as a name only if it is not a common English word, and never in a question.

MAX_QUERY_WORDS, MAX_QUERY_LENGTH = 50, 400
"""Query length that every search engine accepts (docs/sources.md); some truncate longer queries."""


def whole_query(claim: Claim, question: Question) -> str:
    """Return the claim and the question; in a long query the question first, because search engines may truncate it."""
    words = f"{claim.text} {question.text}".split()
    if len(words) > MAX_QUERY_WORDS or len(" ".join(words)) > MAX_QUERY_LENGTH:
        words = f"{question.text} {claim.text}".split()
    return " ".join(words)


def names_query(claim: Claim, question: Question) -> str:
    """Return the names in claim and question, each once; the question if there are none, as in Arabic."""
    texts = (claim.text, question.text)
    found = dict.fromkeys(name for text in texts for sentence in sentences(text) for name in _names(sentence))
    longest = [name for name in found if not any(name != other and f" {name} " in f" {other} " for other in found)]
    return " ".join(longest) or question.text


def _names(sentence: str) -> list[str]:
    """Return the names in one sentence, without a first word that is capitalised only by its position."""
    opening = sentence.lstrip("\"“”«»'‘(¿¡ ")
    # In any language a question begins with an interrogative, so the single first word of a question is no name.
    asks = sentence.rstrip().endswith("?")
    return [
        name
        for name in names(sentence)
        if not (re.match(rf"{re.escape(name)}(?!\w)", opening) and (is_common_word(name) or (asks and " " not in name)))
    ]


NAME = "web-search"
MAX_HITS = 10
MAX_OPENED = 4
"""Documents opened, one after another, until one is admissible."""


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    long_document: bool = True  # read the text around the snippet on its page, not the snippet alone
    multi_document: bool = False  # read the snippets of all hits, not the best document; opens no page, as in the paper
    metadata: bool = True  # show title, site and date to the chooser and the reader
    undated: bool = True  # admit documents without a date for a dated claim
    fact_checks: bool = True  # admit documents of fact-checkers


@dataclass(frozen=True)
class WebSearchAnswerer:
    """Implements `QuestionAnswerer` by Papelo's Algorithm 2."""

    search: WebSearch
    pages: PageReader
    chooser: DocumentChooser | None  # None for the first one that the search lists
    reader: Reader
    settings: DocumentSettings = DocumentSettings()
    origin: Origin = Origin.WEB  # of its passages; CORPUS if `search` searches a corpus
    prefetched_pages: int = 0  # best hits, each of another site, whose pages are opened while one is chosen

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        """Return an answer from one document, or from several; text None if none of them answers.

        `retrieved` lists first the passages that were read, then the other hits. If a page is unavailable, its snippet
        is read. Propagates errors of search, chooser and reader.
        """
        admission = EvidenceRules.for_claim(claim, self.settings.undated, self.settings.fact_checks)
        hits = self._search(claim, question, admission)
        if not hits:
            return Answer(None, answerer=NAME)
        if not self.settings.multi_document:
            return self._from_the_best(question, hits, admission)
        passages = self._as_passages([hit for hit in hits if hit.snippet], admission)
        return self._read(question, passages, ()) if passages else Answer(None, answerer=NAME)

    def _search(self, claim: Claim, question: Question, admission: EvidenceRules) -> list[SearchHit]:
        before = admission.before.isoformat() if admission.before else None
        for query in dict.fromkeys((whole_query(claim, question), names_query(claim, question))):
            report_phase(Code.SEARCHING_WEB() if self.origin is Origin.WEB else Code.SEARCHING_CORPUS())
            hits = [hit for hit in clean_hits(self.search.search(query, MAX_HITS, before)) if admission.may_admit(hit)]
            if hits:
                return hits[:MAX_HITS]
        return []

    def _from_the_best(self, question: Question, hits: list[SearchHit], admission: EvidenceRules) -> Answer:
        left = list(hits)
        with self._prefetch(hits) as opening:
            for _ in range(min(MAX_OPENED, len(hits))):
                chosen = self._choose(question, left)
                if isinstance(chosen, FreeAnswer):
                    return self._free_answer(chosen, left, admission)
                left.remove(chosen)
                if passage := self._document(question, chosen, admission, opening):
                    return self._read(question, (passage,), self._as_passages(left, admission))
        return Answer(None, retrieved=self._as_passages(left, admission), answerer=NAME)

    def _prefetch(self, hits: Sequence[SearchHit]) -> Speculation:
        """Start opening the pages likely to be chosen, one per site because a site gets one request at a time."""
        speculation = Speculation()
        best_of_site = {hit.site: hit for hit in reversed(hits)}
        best = [hit for hit in hits if best_of_site[hit.site] is hit]
        for hit in best[: self.prefetched_pages if self.settings.long_document else 0]:
            speculation.start(hit, partial(self.pages.read, hit))
        return speculation

    def _choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer:
        if self.chooser is None:
            return hits[0]
        if self.settings.metadata:
            return self.chooser.choose(question, hits)
        bare = [replace(hit, title="", site="", published=None) for hit in hits]
        chosen = self.chooser.choose(question, bare)
        return chosen if isinstance(chosen, FreeAnswer) else hits[bare.index(chosen)]

    def _free_answer(self, reply: FreeAnswer, hits: Sequence[SearchHit], admission: EvidenceRules) -> Answer:
        """Return the model's reply as the answer, without a citation and with the hits in its prompt as evidence.

        The text is None if the reply is empty, or if its prompt had inadmissible hits.
        """
        listed = self._as_passages(hits, admission)
        return Answer(reply.text if reply.text and len(listed) == len(hits) else None, retrieved=listed, answerer=NAME)

    def _document(
        self, question: Question, hit: SearchHit, admission: EvidenceRules, opening: Speculation
    ) -> Passage | None:
        """Return the passage to read of the hit's document; None if it is inadmissible or has no text."""
        snippet = None
        if hit.snippet and admission.admits(hit.url, hit.published):
            snippet = passage_of_hit(hit, self.origin)
        if not self.settings.long_document:
            return snippet
        report_phase(Code.READING(what=hit.site) if hit.site else Code.READING_PAGE())
        try:
            page = clean_page(opening.result(hit, partial(self.pages.read, hit)), hit)
        except CallFailed as error:
            if snippet:
                report_phase(Code.READING_SNIPPET())
            report_problem(Code.SNIPPET_READ(problem=str(error)) if snippet else str(error))
            return snippet
        report_fact_checks(page.fact_checks)
        if not admission.admits(page.url, page.published, page.is_fact_check):
            return None
        text = window_for(page.text, hit.snippet, question.text) or hit.snippet
        return passage_of_page(page, text, self.origin) if text else None

    def _read(self, question: Question, passages: tuple[Passage, ...], others: tuple[Passage, ...]) -> Answer:
        shown = passages
        if not self.settings.metadata:
            shown = tuple(replace(each, title="", source="", published=None) for each in passages)
        answer = self.reader.read(question, shown)
        cited = answer.cited and replace(answer.cited, passage=passages[shown.index(answer.cited.passage)])
        return replace(answer, cited=cited, retrieved=(*passages, *others), answerer=NAME)

    def _as_passages(self, hits: Sequence[SearchHit], admission: EvidenceRules) -> tuple[Passage, ...]:
        return tuple(passage_of_hit(hit, self.origin) for hit in hits if admission.admits(hit.url, hit.published))


def _describe(options: RunOptions, settings: Settings) -> str:
    found = f"in {', '.join(options.corpora)}" if options.search == CORPUS_SEARCH else f"by {options.search}"
    return f"one whole page for each question, found {found}"


def _build(parts: AnswererParts) -> QuestionAnswerer:
    chooser: DocumentChooser | None
    reader: Reader
    if parts.model is None:
        chooser, reader = None, parts.reader
    elif parts.as_papelo:
        chooser, reader = PapeloChooser(parts.model), PapeloReader(parts.model)
    else:
        chooser, reader = PromptedChooser(parts.model), PromptedReader(parts.model)
    search, pages, origin = parts.documents()
    return WebSearchAnswerer(search, pages, chooser, reader, parts.document_settings, origin, parts.prefetched_pages)


KIND = AnswererKind(
    title=Words("One document: a whole page or article for each question"),
    needs=("search",),
    describe=_describe,
    build=_build,
    asks_model=True,
)
