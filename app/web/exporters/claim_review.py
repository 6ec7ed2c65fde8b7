"""Export a verdict as schema.org's ClaimReview.

Ratings use only the ends of the usual scale from 1 to 5: a number between them would suggest a nuance that no verdict
has. A verdict that does not decide the claim has a name and no number.
"""

from __future__ import annotations

from typing import Any

from app.domain.messages import Words
from app.domain.model import Claim, Label, Verdict
from app.runs.service import StoredRun
from app.web.exporters import Export, Exporter, to_json
from app.web.exporters.markdown import disclaimer
from app.web.views import FACES

WORST, BEST = 1, 5
RATINGS = {Label.REFUTED: WORST, Label.SUPPORTED: BEST}


def has_review(run: StoredRun) -> bool:
    """Return whether the run has a verdict that was reached here."""
    return run.report.verdict is not None and not run.report.imported


def claim_review(export: Export) -> dict[str, Any] | None:
    """Return the JSON-LD object; None for a run without a verdict and for an imported one."""
    run, report = export.run, export.run.report
    # The first test repeats has_review's, for the type checker.
    if report.verdict is None or not has_review(run):
        return None
    return {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "url": export.address,
        "datePublished": run.created_at.date().isoformat(),
        "claimReviewed": report.claim.text,
        "itemReviewed": _claim(report.claim),
        "author": {
            "@type": "Organization",  # Google's type for an author; the description says that it is a machine
            "name": "Hopcheck",
            "url": export.home,
            "description": disclaimer(report.options),
        },
        "reviewRating": _rating(report.verdict),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    """Return the claim. Its author is a Thing, since it may be a person or an organisation."""
    item: dict[str, Any] = {"@type": "Claim"}
    if claim.speaker:
        item["author"] = {"@type": "Thing", "name": claim.speaker}
    if claim.date:
        item["datePublished"] = claim.date
    return item


def _rating(verdict: Verdict) -> dict[str, Any]:
    rating: dict[str, Any] = {"@type": "Rating", "alternateName": FACES[verdict.label].word}
    if verdict.label in RATINGS:
        rating |= {"ratingValue": RATINGS[verdict.label], "bestRating": BEST, "worstRating": WORST}
    reasons = " ".join(str(sentence.text) for sentence in verdict.rationale)
    return {**rating, "ratingExplanation": reasons} if reasons else rating


EXPORTERS = (
    Exporter(
        file="claimreview.json",
        title="ClaimReview",
        hint=Words("the verdict, for programs"),
        media_type="application/ld+json",
        write=lambda export: to_json(claim_review(export) or {}),
        has_content=has_review,
        without_content=Words("There is no ClaimReview of this report: only a verdict that was reached here has one."),
        operation="exportClaimReview",
        about="Read a verdict as ClaimReview\n"
        "In JSON-LD: schema.org's ClaimReview; 409 for a run without a verdict of its own.",
    ),
)
