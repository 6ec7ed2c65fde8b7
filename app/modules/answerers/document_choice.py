"""Choose one document among the hits, by a language model or by the reader's score (Papelo, section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.errors import UnparseableOutput
from app.domain.model import Answer, Origin, Passage, Question, SearchHit
from app.domain.ports import FreeAnswer, Reader, TextGenerator
from app.domain.progress import entered
from app.modules.answerers.recitation import answer_in
from app.modules.answerers.web_documents import passage_of_hit
from app.modules.output_parsing import passage_from
from app.modules.prompting import few_shot, filled, one_line

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
