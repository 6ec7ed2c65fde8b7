"""A language model reads what was found and answers from it: a Reader that need not copy its answer word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.model import Answer, Passage, Question
from app.domain.ports import TextGenerator
from app.modules.answering.document_choosing import description
from app.modules.answering.recited import answer_in
from app.modules.parsing import passage_from
from app.modules.prompted.prompting import few_shot, filled, one_line

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
        """The model's answer from the passages, or one whose text is None. Raises what the model raises.

        It cites where its words stand in a passage, the whole passage where they do not stand there literally. Of
        several passages that is the one whose number the model gives; where it gives none of theirs, nothing is cited.
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
    """The passages, each between marks with what is known of it, and the question."""
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
    """Whether the first thing that is said is that the documents do not say."""
    opening = _SAYS_NOTHING.match(text)
    return bool(opening and _NEGATED.search(opening.group()))


def _cited_number(reply: str, count: int) -> int | None:
    return next((int(number) for number in _CITED.findall(reply) if 1 <= int(number) <= count), None)
