"""Corrections of false claims: the value of the claim that its check contradicts, and the answer in its place.

Only what the check itself points at is suggested: the one name or number of the claim that a question of the verdict
does not name, and the cited answer to that question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from app.batches.service import BatchClaim
from app.domain.model import Label, SourceText
from app.domain.report import Report
from app.text.wording import names, normalised
from app.web.report_view import Card, shown_verdict

_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")


class Correction(NamedTuple):
    """The words of a claim that are wrong, and those of the evidence in their place."""

    wrong: str
    right: str


class Marked(NamedTuple):
    """A piece of a text, with the claim that was taken from it, if any, and what its check says against it."""

    text: str
    claim: BatchClaim | None = None
    correction: Correction | None = None
    card: Card | None = None
    """The evidence against a false claim."""
    is_taken: bool = False

    @property
    def around(self) -> tuple[str, str]:
        before, _, after = self.text.partition(self.correction.wrong if self.correction else "\0")
        return before, after

    @property
    def corrected(self) -> str:
        """Return the text, with the correction if it was taken over."""
        return self.correction.right.join(self.around) if self.correction and self.is_taken else self.text


def correction_of(report: Report) -> Correction | None:
    """Return the correction of a refuted claim; None unless the wrong words and the answer can both be pointed at."""
    verdict = report.verdict
    if verdict is None or verdict.label is not Label.REFUTED:
        return None
    numbers = {number for sentence in verdict.rationale for number in sentence.hops}
    for hop in reversed(report.context):
        answer = hop.answer
        if hop.number in numbers and answer and answer.text and answer.cited and not hop.from_memory:
            found = _contradicted(report.claim.text, hop.question.text, answer.text.strip())
            if found:
                return found
    return None


def _contradicted(claim: str, question: str, answer: str) -> Correction | None:
    asked = f" {normalised(question)} "
    unasked = [name for name in names(claim) if f" {normalised(name)} " not in asked]
    alike = [name for name in unasked if _has_digit(name) == _has_digit(answer)]
    if len(alike) != 1 or claim.count(alike[0]) != 1:
        return None
    wrong, years = alike[0], _YEAR.findall(answer)
    right = years[0] if _YEAR.fullmatch(wrong) and len(years) == 1 else answer
    is_same = normalised(wrong) in normalised(right) or normalised(right) in normalised(wrong)
    return None if is_same else Correction(wrong, right)


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def marked_pieces(
    source: SourceText, claims: Sequence[BatchClaim], reports: dict[str, Report], taken: Collection[int]
) -> Iterator[Marked]:
    """Yield the pieces of the text in order; of several claims of one sentence, the first has its text.

    `reports` are those of refuted claims by run, `taken` the numbers of the claims whose correction is taken over.
    """
    at = 0
    for (start, end), claim in zip(source.spans, claims, strict=False):
        yield Marked(source.text[at:start])
        yield _marked(source.text[max(at, start) : end], claim, reports.get(claim.run_id or ""), claim.number in taken)
        at = max(at, end)
    yield Marked(source.text[at:])


def _marked(text: str, claim: BatchClaim, report: Report | None, is_taken: bool) -> Marked:
    if report is None:
        return Marked(text, claim)
    found = correction_of(report)
    correction = found if found and text.count(found.wrong) == 1 else None
    return Marked(text, claim, correction, next(iter(shown_verdict(report).cards), None), is_taken)
