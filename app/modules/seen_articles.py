"""The articles that the searches so far have shown: how a name is written whole, whose it is, what it would tell.

A claim's words alone do not say where a title ends ("the film Headless Body in Topless Bar"), whether a name is a
person's, or which of several names has what is still open. The passages that were looked at for earlier questions do:
a title that stands in the claim is one name, and its article's lead says the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.model import Hop, Passage
from app.modules.clauses import is_person
from app.modules.wording import NAME, bare_title, normalised, stems

_OPENING = r"^(?:(?! (?:is|was|are|were) )[^(]|\([^()]*\)){2,160}?"
_BORN = re.compile(rf"{_OPENING}\((?:[^()]*[ ;,])?(?:born|née|died)\b|{_OPENING}\([^()]*\d{{4}} ?[–-] ?[^()]*\d{{4}}\)")
_IS = re.compile(
    r"\b(?:is|was) (?:an?|the|one of the) ([\w’' /-]+?)"
    r"(?= (?:who|that|which|of|in|from|for|at|by|and|about|set|based|directed|written|starring)\b|[.,;(]|$)"
)
LEAD = 300
"""Characters of an article in which it says what it is about."""
FEWEST_SHARED = 2
"""An article with so many of the claim's open words is worth reading for them."""


@dataclass(frozen=True, slots=True)
class SeenArticles:
    """The first passage of every article that was looked at, by its title without what tells it from namesakes."""

    passages: tuple[Passage, ...] = ()

    @classmethod
    def of(cls, hops: Iterable[Hop]) -> SeenArticles:
        """Those of the hops' answers, in the order in which they came; "It" and "The Who" are words in any text."""
        found: dict[str, Passage] = {}
        for hop in hops:
            if hop.answer:
                cited = (hop.answer.cited.passage,) if hop.answer.cited else ()
                for passage in (*cited, *hop.answer.retrieved):
                    found.setdefault(_key(bare_title(passage.title)), passage)
        return cls(tuple(passage for key, passage in found.items() if stems(key)))

    def names_in(self, text: str) -> list[str]:
        """The titles that stand in `text` as names, as it writes them; none inside a longer one."""
        spans: list[tuple[int, int]] = []
        for title in sorted((_bare(passage) for passage in self.passages), key=len, reverse=True):
            for at in re.finditer(rf"(?<![\w’'-]){re.escape(title)}(?![\w-])", text, re.IGNORECASE):
                free = all(at.end() <= start or end <= at.start() for start, end in spans)
                if free and not at.group()[0].islower() and not _is_part(text, at, title):
                    spans.append(at.span())
        return [text[start:end] for start, end in sorted(spans)]

    def about(self, name: str) -> Passage | None:
        """The article on what bears this name, or on who bears it with a name more or less: "Derek George Jacobi"."""
        key, words = _key(name), normalised(name).split()
        exact = next((each for each in self.passages if _key(_bare(each)) == key), None)
        if exact or len(words) < 2:
            return exact
        same = (each for each in self.passages if _one_person(normalised(_bare(each)).split(), words))
        return next((each for each in same if is_on_person(each)), None)

    def rank(self, name: str) -> int:
        """The place of the article on `name` among all that were seen; behind them where there is none."""
        article = self.about(name)
        return self.passages.index(article) if article else len(self.passages)

    def is_person(self, name: str) -> bool | None:
        """Whether the article on `name` is on a person; None where no article says so."""
        article = self.about(name)
        return is_on_person(article) if article else None


def is_on_person(article: Passage) -> bool | None:
    """Whether an article's lead tells of a person, by a birth or what they are; None where it says neither."""
    lead = article.text[:LEAD]
    if _BORN.search(lead):
        return True
    said = _IS.search(lead)
    if said is None:
        return None
    return any(is_person(word) or word.endswith("woman") for word in said[1].split()[-2:])


def answer_text(hop: Hop) -> str:
    """A kept answer as it is put into the claim: in quotation marks where it is a title with small words in it."""
    text = (hop.answer.text or "").strip(" .") if hop.answer else ""
    text = text.replace('"', "") if text.count('"') % 2 else text
    titled = hop.answer and any(text == bare_title(each.title) for each in hop.answer.retrieved)
    return f'"{text}"' if titled and not re.fullmatch(NAME, text) else text


def told_of(open_words: frozenset[str], article: Passage) -> int:
    """How many of the words that are still open an article's passage has, its own name left out."""
    return len((open_words - stems(_bare(article))) & stems(article.text))


def open_words(claim: str, context: Sequence[Hop]) -> frozenset[str]:
    """The claim's stems that no kept answer and no cited passage has."""
    known: frozenset[str] = frozenset()
    for hop in context:
        if hop.answer:
            known |= stems(hop.answer.text or "")
            known |= stems(hop.answer.cited.passage.text) if hop.answer.cited else frozenset()
    return stems(claim) - known


def _one_person(title: list[str], name: list[str]) -> bool:
    """Whether one has all words of the other and both end alike: "derek jacobi", "sir derek george jacobi"."""
    return len(title) > 1 and title[-1] == name[-1] and (set(title) <= set(name) or set(name) <= set(title))


def _is_part(text: str, at: re.Match[str], title: str) -> bool:
    """Whether a title of one word is only a piece of a longer name ("Polka" in "Polka Dot Door")."""
    before, after = text[: at.start()], text[at.end() :]
    beside = re.match(r" [A-Z]", after) or re.search(r"(?:^|[\w,] )[A-Z][\w’'-]* $", before)
    return " " not in title and beside is not None


def _bare(passage: Passage) -> str:
    return re.sub(r"^[Tt]he ", "", bare_title(passage.title))


def _key(name: str) -> str:
    return normalised(name).removeprefix("the ")
