"""One document out of the hits: by a language model's word for it, or by the reader's score (Papelo, section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.errors import UnparseableOutput
from app.domain.model import Origin, Question, SearchHit
from app.domain.ports import FreeAnswer, Reader, TextGenerator
from app.domain.progress import entered
from app.modules.answering.web_documents import passage_of_hit
from app.modules.prompted.prompting import few_shot, filled, one_line

MAX_TOKENS = 256
SNIPPET_WORDS = 80
"""So much of each hit is shown: a corpus's passage is longer than a search engine's snippet, and ten must fit."""
_NUMBER = r"#?\d{1,3}(?!\d|[.,]\d)"
_DOCUMENT = r"\bdoc(?:ument)?s?\b[\s#:*\[(]*"
_AND = r"[\])*]*\s*(?:,|&|\band\b|\bor\b)[\s,]*(?:\b(?:and|or)\b)?\s*"
_MENTION = re.compile(rf"{_DOCUMENT}{_NUMBER}(?:{_AND}(?:{_DOCUMENT})?[\s#*\[(]*{_NUMBER})*", re.IGNORECASE)
_NUMBER_ALONE = re.compile(rf"\W*{_NUMBER}\W*")


@dataclass(frozen=True)
class PromptedChooser:
    """Implements `DocumentChooser` over a language model, which is shown what is known of each hit, and no claim."""

    model: TextGenerator

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer:
        """The hit that the model names; its whole reply as its answer when it names none.

        A reply that names a document which there is not is neither: the model is asked once more. Raises
        UnparseableOutput when it does so again or writes nothing, and what the model raises.
        """
        entered(f"choosing one of {len(hits)} documents")
        for also in ("", f"There are only {len(hits)} documents."):
            reply = one_line(self.model.complete(choosing_prompt(question, hits, also), max_tokens=MAX_TOKENS))
            mentions = _mentions(reply)
            if number := _first_in_range(mentions, len(hits)):
                return hits[number - 1]
            if reply and not mentions:
                return FreeAnswer(reply)
        raise UnparseableOutput(f"{self.model.name} chose none of the documents that were found.")


def _mentions(reply: str) -> list[str]:
    """Where documents are named by number; a number that is the whole reply names one, too."""
    found = [match.group() for match in _MENTION.finditer(reply)]
    return found or ([reply] if _NUMBER_ALONE.fullmatch(reply) else [])


def _first_in_range(mentions: Sequence[str], count: int) -> int | None:
    """The number out of 1 to `count` that is chosen: "Document 3", or the last of "Documents 1, 2 and 3".

    Of documents that are mentioned apart the first one counts.
    """
    for mention in mentions:
        numbers = [int(digits) for digits in re.findall(r"\d+", mention) if 1 <= int(digits) <= count]
        if numbers:
            return numbers[-1]
    return None


def choosing_prompt(question: Question, hits: Sequence[SearchHit], also: str = "") -> str:
    """The hits, numbered from 1, each between marks, and what is asked about them."""
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
    """What is known of a document on one line; what is not known is left out."""
    parts = (("Title", title), ("Site", site), ("Date", published), ("Text", text))
    return "; ".join(f"{name}: {one_line(part)}" for name, part in parts if part)


@dataclass(frozen=True)
class ReaderChooser:
    """Implements `DocumentChooser` with no language model: the snippet that most likely holds an answer."""

    reader: Reader

    def choose(self, question: Question, hits: Sequence[SearchHit]) -> SearchHit | FreeAnswer:
        """The hit whose snippet the reader rates best, the search's own order between equals. Raises what it raises.

        Each snippet is read alone, since a reader over many gives the score of the best one only.
        """
        entered(f"choosing one of {len(hits)} documents")
        return max(hits, key=lambda hit: self._score(question, hit))

    def _score(self, question: Question, hit: SearchHit) -> float:
        return self.reader.read(question, (passage_of_hit(hit, Origin.WEB),)).score if hit.snippet else 0.0
