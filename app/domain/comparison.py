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
from app.domain.messages import Words
from app.domain.model import Answer, Hop, Origin, Passage
from app.domain.report import Report

MIN_RUNS, MAX_RUNS = 2, 4

MAX_SHOWN_ID = 40
"""Characters of an unknown id that the error message quotes."""


class HasReport(Protocol):
    @property
    def report(self) -> Report: ...


T = TypeVar("T", bound=HasReport)


class NoSuchRun(NotThere):
    """One of the runs does not exist or was deleted."""

    def __init__(self, run_id: str) -> None:
        name = run_id if len(run_id) <= MAX_SHOWN_ID else f"{run_id[:MAX_SHOWN_ID]}…"
        super().__init__(
            Words("There is no check “{name}” here: its link is incomplete, or it was deleted.", name=name), "run"
        )


def runs_to_compare(read: Callable[[str], T | None], ids: Sequence[str]) -> tuple[T, ...]:
    """Return these runs, each once. Raises NoSuchRun, and InvalidInput where they cannot be compared."""
    ids = tuple(filter(None, ids))  # a form sends an empty value for an unused field
    named = tuple(dict.fromkeys(ids))
    if len(named) > MAX_RUNS:
        raise InvalidInput(
            Words(
                "At most {max_runs} checks can be compared at once; these are {count}.",
                max_runs=MAX_RUNS,
                count=len(named),
            ),
            "run",
        )
    runs = tuple(_read(read, run_id) for run_id in named)
    if len(named) == 1 and len(ids) > 1:
        raise InvalidInput(Words("That is one and the same check. Choose another one to compare it with."), "run")
    if len(named) < MIN_RUNS:
        raise InvalidInput(
            Words(
                "Choose {min_runs} to {max_runs} checks of one claim to compare.", min_runs=MIN_RUNS, max_runs=MAX_RUNS
            ),
            "run",
        )
    if len({normalised_claim(run.report.claim.text) for run in runs}) > 1:
        raise InvalidInput(
            Words("These checks are of different claims, and only checks of one claim are compared."), "run"
        )
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


@dataclass(slots=True)
class Row:
    """A question in the words of the first run that asked it, and each run's hop with that question, or None."""

    question: str
    hops: list[Hop | None]

    @property
    def agree(self) -> bool | None:
        """Return whether all answers are equal, ignoring case; None with fewer than two answers."""
        texts = [hop.answer.text for hop in self.hops if hop and hop.answer and hop.answer.text is not None]
        return len({text.casefold() for text in texts}) == 1 if len(texts) > 1 else None

    def first_asked(self) -> tuple[int, int]:
        """Return the lowest number of its hops, and the first run with a hop."""
        numbers = {column: hop.number for column, hop in enumerate(self.hops) if hop}
        return min(numbers.values()), min(numbers)

    def precedes(self, other: Row) -> bool:
        """Return whether some run asked this question before the other."""
        pairs = zip(self.hops, other.hops, strict=True)
        return any(mine is not None and theirs is not None and mine.number < theirs.number for mine, theirs in pairs)


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a page by one run."""

    met: dict[int, str | None] = field(default_factory=dict)
    """Each hop that retrieved or cites it, with the text of the passage that it cites."""

    @property
    def cited(self) -> tuple[int, ...]:
        return tuple(hop for hop, text in self.met.items() if text is not None)

    @property
    def read(self) -> tuple[int, ...]:
        """Return the hops that retrieved it and cite another page, or none."""
        return tuple(hop for hop, text in self.met.items() if text is None)


@dataclass(frozen=True, slots=True)
class PageUsed:
    """A page, identified by its address or else by title and source, and its use by each run."""

    passage: Passage  # the first one found of the page
    uses: tuple[Use, ...]

    @property
    def alike(self) -> bool:
        """Return whether the runs that cite the page share a passage of it."""
        cited = [set(use.met.values()) - {None} for use in self.uses if use.cited]
        return bool(cited and set.intersection(*cited))

    @property
    def cited_in(self) -> int:
        return sum(bool(use.cited) for use in self.uses)

    @property
    def met_in(self) -> int:
        return sum(bool(use.met) for use in self.uses)


def rows(reports: Sequence[Report]) -> tuple[Row, ...]:
    """Return the hops of all reports in rows by question, in the order of each run as far as possible."""
    found: list[Row] = []
    for column, report in enumerate(reports):
        # All hops with the same words first, so that no merely similar one takes their row.
        unmatched = [hop for hop in report.hops if not _add_to_row(hop, column, found, _has_same_words)]
        for hop in unmatched:
            if not _add_to_row(hop, column, found, _has_similar_words):
                found.append(Row(hop.question.text, [hop if at == column else None for at in range(len(reports))]))
    return tuple(_in_order(found))


def pages(reports: Sequence[Report]) -> tuple[PageUsed, ...]:
    """Return every page that a hop cites or retrieved, without recited text, which is not a source.

    Pages cited in most runs come first, then those retrieved in most runs, then in order of appearance.
    """
    found: dict[object, PageUsed] = {}
    for column, report in enumerate(reports):
        for hop in report.hops:
            answer = hop.answer or Answer(None)
            cited = answer.cited.passage if answer.cited else None
            for passage in (*([cited] if cited else []), *answer.retrieved):
                if passage.origin is not Origin.RECITED:
                    page = PageUsed(passage, tuple(Use() for _ in reports))
                    page = found.setdefault(_page_identity(passage), page)
                    page.uses[column].met.setdefault(hop.number, passage.text if passage == cited else None)
    return tuple(sorted(found.values(), key=lambda page: (-page.cited_in, -page.met_in)))


def _words(question: str) -> list[str]:
    return sorted(_WORD.findall(question.casefold()))


def _has_same_words(one: str, other: str) -> bool:
    """Return whether both have the same words. An empty question equals none."""
    return bool(_words(one)) and _words(one) == _words(other)


def _has_similar_words(one: str, other: str) -> bool:
    few, many = sorted((set(_words(one)), set(_words(other))), key=len)
    return bool(few) and few <= many and len(few) >= MIN_WORD_OVERLAP * len(many)


def _add_to_row(hop: Hop, column: int, found: Iterable[Row], alike: Callable[[str, str], bool]) -> bool:
    """Add the hop to the first matching row that has no hop of its run yet; return whether there is such a row."""
    for row in found:
        if row.hops[column] is None and alike(hop.question.text, row.question):
            row.hops[column] = hop
            return True
    return False


def _in_order(found: Iterable[Row]) -> list[Row]:
    """Sort the rows by each run's order of hops; where the runs disagree, the earliest asked comes first."""
    remaining = sorted(found, key=Row.first_asked)
    ordered = []
    while remaining:
        unpreceded = (row for row in remaining if not any(other.precedes(row) for other in remaining))
        ordered.append(next(unpreceded, remaining[0]))  # the runs disagree: the earliest asked
        remaining.remove(ordered[-1])
    return ordered


def _page_identity(passage: Passage) -> object:
    if not passage.url:
        return passage.title, passage.source
    try:
        return urldefrag(passage.url).url
    except ValueError:  # an invalid address, for example in an imported report
        return passage.url
