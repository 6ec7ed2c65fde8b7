"""The retriever-reader answerer: BM25, a reranker, an extractive reader (QACheck, section 3.3, its third QA model)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from app.domain.model import Answer, Claim, Passage, Question, Span
from app.domain.ports import Reader, Reranker, Retriever
from app.domain.progress import entered
from app.modules.wording import bare_title, normalised
from app.text.sentences import sentence_spans

# "Who is ..." and "What is ..." questions are answered by the first sentence of the article on the name.

_LOOK_UP = re.compile(r"(?:Who|What) (?:is|was|are|were) (.+?)\?")
_ENDS = (
    "who|whom|whose|which|that|where|when|while|but|although|though|because|since|known|best|located|situated|released"
    "|published|born|made|held|native|part|home|just|then|now|also|such|is|was|are|were|has|had|he|she|it|they|his|her"
    "|its|their|an?|the|one|in|on|at|by|for|from|with|of|to|as|about|after|before|near|into|under|over|between|during"
    "|including|west|east|north|south|along|together|both|each"
)
_WORD = rf"(?!(?:{_ENDS}) )(?:\d{{1,3}}(?:,\d{{3}})+)?[\w’'&/.-]+"
_NOUN_FOLLOWS = rf"(?!(?:{_ENDS}|and|or|[a-z]+(?:ly|ing)|[a-z]+ed (?:by|in|on|at|for|from|with|to|as|of|near))\b)[a-z]"
_LISTED = rf"(?:{_WORD}(?: {_WORD}){{0,5}}, (?:(?:and|or) )?(?={_NOUN_FOLLOWS}))*"
"""Words separated by commas, before any preposition: "large, freshwater", "actor, singer, and"."""
_WHOLE = r"(?>\"[^\"]*\"|“[^”]*”|\d,(?=\d{3})|:(?= [A-Z])|.)"
"""One character, or text that must not be split: a quoted title, a number's comma, a title's colon."""
_SAID_OF_IT = re.compile(
    rf"\b(?:is|was|are|were) ((?:an?|the|one of) {_LISTED}{_WHOLE}+?)"
    r"(?=[,;(]|:(?! [A-Z])|(?: (?:primarily|mainly|mostly|best))? (?:who|whom|whose|which|that|where|when|known"
    r"|located|situated|released|published)\b|\.?$)"
)
MOST_SENTENCES = 2
"""Sentences searched: a corpus may put a short description before the sentence that defines the subject."""


def definition(question: str, passages: Sequence[Passage]) -> Answer | None:
    """Return the definition from the first of `passages` titled with the name asked for; None if there is none.

    `passages` are the retrieved ones, best first, and become the answer's. "Who was Brian Hutton?" is answered from the
    passage "Brian Hutton (director)"; "Brian G. Hutton" is another title and is left to the reader.
    """
    asked = _LOOK_UP.fullmatch(question.strip())
    if not asked:
        return None
    wanted = _bare(asked[1])
    for passage in passages:
        if _bare(bare_title(passage.title)) == wanted and (span := _said_in(passage)):
            return Answer(span.text, span, tuple(passages))
    return None


def _said_in(passage: Passage) -> Span | None:
    for start, end in sentence_spans(passage.text)[:MOST_SENTENCES]:
        if said := _SAID_OF_IT.search(passage.text, start, end):
            return Span(passage, *said.span(1))
    return None


def _bare(name: str) -> str:
    """Return the name without article and quotation marks, normalised for comparison."""
    return normalised(name).removeprefix("the ")


def _sentences(passage: Passage) -> Iterator[Span]:
    return (Span(passage, *place) for place in sentence_spans(passage.text))


NAME = "retriever-reader"


@dataclass(frozen=True)
class RetrieverReader:
    """Answers from retrieved passages only. `depth` are retrieved and reranked, the best `read` of them are read.

    The question is searched for alone and together with the claim, and passages are ranked by both: "Who directed this
    film?" alone is too vague, and the claim distinguishes two people called Frank Gardner.
    """

    retriever: Retriever
    reranker: Reranker
    reader: Reader
    depth: int = 20
    read: int = 5
    near: float = 0.0
    """Least score of a sentence that is the answer where the reader finds none."""

    def answer(self, question: Question, claim: Claim) -> Answer:
        """Return the answer in the best passages; if there is none, text None with the passages that were read."""
        in_context = " ".join(dict.fromkeys((question.text, claim.text)))
        passages = self._retrieved(question.text, in_context)
        if not passages:
            return Answer(None, answerer=NAME)
        entered(f"ranking {len(passages)} passages")
        best = self.reranker.rerank(in_context, passages)[: self.read]
        entered(f"reading {len(best)} passages")
        answer = definition(question.text, best) or self.reader.read(question, best)
        if answer.text is None:
            answer = self._nearest(answer, in_context, best)
        return replace(answer, answerer=NAME)

    def _nearest(self, answer: Answer, in_context: str, passages: Sequence[Passage]) -> Answer:
        """Return `answer` with the sentence nearest to question and claim; as it is if that one's score is too low."""
        spans = {span.text: span for passage in passages for span in _sentences(passage)}
        ranked = self.reranker.rerank(in_context, [replace(span.passage, text=text) for text, span in spans.items()])
        if not ranked or (ranked[0].score or 0.0) < self.near:
            return answer
        return replace(answer, text=ranked[0].text, cited=spans[ranked[0].text])

    def _retrieved(self, *queries: str) -> list[Passage]:
        """Return the first `depth` passages of the queries' rankings, interleaved, each passage once."""
        rankings = (self.retriever.retrieve(query, self.depth) for query in dict.fromkeys(queries))
        in_turn = chain.from_iterable(zip_longest(*rankings))
        return [*{each.text: each for each in in_turn if each}.values()][: self.depth]
