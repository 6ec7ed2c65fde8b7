"""Compare several runs of one claim: hops aligned by question, and the pages that the runs used.

Two questions are the same when they have the same words in any order, or when one has all words of the other and these
are at least two thirds of its own ("Where was Shakespeare born?", "Where was William Shakespeare born?").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from urllib.parse import urldefrag

from app.domain.errors import InvalidInput, NotThere
from app.domain.model import Hop, Origin, Passage
from app.domain.report import Report

MIN_RUNS, MAX_RUNS = 2, 4

MAX_SHOWN_ID = 40
"""Characters of an unknown id that the error message quotes."""


class HasReport(Protocol):
    """A run with a report."""

    @property
    def report(self) -> Report: ...


T = TypeVar("T", bound=HasReport)


class NoSuchRun(NotThere):
    """One of the runs does not exist or was deleted."""

    def __init__(self, run_id: str) -> None:
        name = run_id if len(run_id) <= MAX_SHOWN_ID else f"{run_id[:MAX_SHOWN_ID]}…"
        super().__init__(f"There is no check “{name}” here: its link is incomplete, or it was deleted.", "run")


def runs_to_compare(read: Callable[[str], T | None], ids: Sequence[str]) -> tuple[T, ...]:
    """Return these runs, each once. Raises NoSuchRun, and InvalidInput where they cannot be compared."""
    ids = tuple(filter(None, ids))  # a form sends an empty value for an unused field
    named = tuple(dict.fromkeys(ids))
    if len(named) > MAX_RUNS:
        raise InvalidInput(f"At most {MAX_RUNS} checks can be compared at once; these are {len(named)}.", "run")
    runs = tuple(_read(read, run_id) for run_id in named)
    if len(named) == 1 and len(ids) > 1:
        raise InvalidInput("That is one and the same check. Choose another one to compare it with.", "run")
    if len(named) < MIN_RUNS:
        raise InvalidInput(f"Choose {MIN_RUNS} to {MAX_RUNS} checks of one claim to compare.", "run")
    if len({normalised_claim(run.report.claim.text) for run in runs}) > 1:
        raise InvalidInput("These checks are of different claims, and only checks of one claim are compared.", "run")
    return runs


def normalised_claim(text: str) -> str:
    """Return the claim without differences of case and white space, to recognise the same claim."""
    return " ".join(text.casefold().split())


def _read(read: Callable[[str], T | None], run_id: str) -> T:
    run = read(run_id)
    if run is None:
        raise NoSuchRun(run_id)
    return run


MIN_WORD_OVERLAP = 2 / 3
"""Minimum share of the longer question's words that the shorter one contains."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Row:
    """A question in the words of the first run that asked it, and each run's hop with that question, or None."""

    question: str
    hops: tuple[Hop | None, ...]

    @property
    def agree(self) -> bool | None:
        """Return whether all answers are equal, ignoring case; None with fewer than two answers."""
        texts = [hop.answer.text for hop in self.hops if hop and hop.answer and hop.answer.text is not None]
        return len({text.casefold() for text in texts}) == 1 if len(texts) > 1 else None


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a page by one run."""

    cited: tuple[int, ...] = ()  # numbers of the hops that cite it
    read: tuple[int, ...] = ()  # numbers of the hops that retrieved it and cite another page, or none


@dataclass(frozen=True, slots=True)
class PageUsed:
    """A page, identified by its address or else by title and source, and its use by each run."""

    passage: Passage  # the first one found of the page
    uses: tuple[Use, ...]
    alike: bool  # whether the runs that cite the page share a passage of it

    @property
    def cited_in(self) -> int:
        """Return the number of runs that cite it."""
        return sum(bool(use.cited) for use in self.uses)

    @property
    def met_in(self) -> int:
        """Return the number of runs that cite or retrieved it."""
        return sum(bool(use.cited or use.read) for use in self.uses)


def rows(reports: Sequence[Report]) -> tuple[Row, ...]:
    """Return the hops of all reports in rows by question, in the order of each run as far as possible."""
    drafts: list[_Draft] = []
    for column, report in enumerate(reports):
        # All hops with the same words first, so that no merely similar one takes their row.
        unmatched = [hop for hop in report.hops if not _add_to_row(hop, column, drafts, _has_same_words)]
        for hop in unmatched:
            if not _add_to_row(hop, column, drafts, _has_similar_words):
                drafts.append(_Draft(hop.question.text, {column: hop}))
    return tuple(
        Row(draft.question, tuple(draft.hops.get(column) for column in range(len(reports))))
        for draft in _in_order(drafts)
    )


def pages(reports: Sequence[Report]) -> tuple[PageUsed, ...]:
    """Return every page that a hop cites or retrieved, without recited text, which is not a source.

    Pages cited in most runs come first, then those retrieved in most runs, then in order of appearance.
    """
    by_page: dict[object, list[_FoundPassage]] = {}
    for column, report in enumerate(reports):
        for each in _passages_of(report, column):
            by_page.setdefault(_page_identity(each.passage), []).append(each)
    found = [_page_used(of_page, len(reports)) for of_page in by_page.values()]
    return tuple(sorted(found, key=lambda page: (-page.cited_in, -page.met_in)))


@dataclass(slots=True)
class _Draft:
    """A row under construction: hops by the index of their run."""

    question: str
    hops: dict[int, Hop] = field(default_factory=dict)

    def precedes(self, other: _Draft) -> bool:
        """Return whether some run asked this question before the other."""
        return any(column in other.hops and hop.number < other.hops[column].number for column, hop in self.hops.items())


@dataclass(frozen=True, slots=True)
class _FoundPassage:
    """A passage, the index of its run, the number of its hop, and whether that hop's answer cites it."""

    passage: Passage
    column: int
    hop: int
    cited: bool


def _words(question: str) -> list[str]:
    return sorted(_WORD.findall(question.casefold()))


def _has_same_words(one: str, other: str) -> bool:
    """Return whether both have the same words. An empty question equals none."""
    return bool(_words(one)) and _words(one) == _words(other)


def _has_similar_words(one: str, other: str) -> bool:
    few, many = sorted((set(_words(one)), set(_words(other))), key=len)
    return bool(few) and few <= many and len(few) >= MIN_WORD_OVERLAP * len(many)


def _add_to_row(hop: Hop, column: int, drafts: Iterable[_Draft], alike: Callable[[str, str], bool]) -> bool:
    """Add the hop to the first matching row that has no hop of its run yet; return whether there is such a row."""
    for draft in drafts:
        if column not in draft.hops and alike(hop.question.text, draft.question):
            draft.hops[column] = hop
            return True
    return False


def _in_order(drafts: Iterable[_Draft]) -> list[_Draft]:
    """Sort the rows by each run's order of hops; where the runs disagree, the earliest asked comes first."""
    remaining = sorted(drafts, key=lambda draft: (min(hop.number for hop in draft.hops.values()), min(draft.hops)))
    ordered = []
    while remaining:
        unpreceded = (draft for draft in remaining if not any(other.precedes(draft) for other in remaining))
        ordered.append(next(unpreceded, remaining[0]))  # the runs disagree: the earliest asked
        remaining.remove(ordered[-1])
    return ordered


def _passages_of(report: Report, column: int) -> Iterable[_FoundPassage]:
    for hop in report.hops:
        answer = hop.answer
        cited = answer.cited.passage if answer and answer.cited else None
        for passage in dict.fromkeys((*([cited] if cited else []), *(answer.retrieved if answer else ()))):
            if passage.origin is not Origin.RECITED:
                yield _FoundPassage(passage, column, hop.number, passage == cited)


def _page_identity(passage: Passage) -> object:
    if not passage.url:
        return passage.title, passage.source
    try:
        return urldefrag(passage.url).url
    except ValueError:  # an invalid address, for example in an imported report
        return passage.url


def _page_used(found: Sequence[_FoundPassage], columns: int) -> PageUsed:
    uses, cited_texts = [], []
    for column in range(columns):
        of_run = [each for each in found if each.column == column]
        cited = {each.hop for each in of_run if each.cited}
        uses.append(Use(tuple(sorted(cited)), tuple(sorted({each.hop for each in of_run} - cited))))
        cited_texts.append({each.passage.text for each in of_run if each.cited})
    citing = [texts for texts in cited_texts if texts]
    return PageUsed(found[0].passage, tuple(uses), bool(citing and set.intersection(*citing)))
