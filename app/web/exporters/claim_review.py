"""A verdict as schema.org's ClaimReview, for programs that collect fact checks.

The rating is on the usual scale from 1 to 5, of which a machine's verdict has the two ends only: a reader of the number
alone is not misled. A verdict that does not decide the claim has a name and no number.
"""

from __future__ import annotations

from typing import Any

from app.domain.model import Claim, Label, Verdict
from app.runs.service import StoredRun
from app.web.exporters.markdown import CLAIM_ALONE, MACHINE, READ
from app.web.views import FACES, claim_only

WORST, BEST = 1, 5
RATINGS = {Label.REFUTED: WORST, Label.SUPPORTED: BEST}


def claim_review(run: StoredRun, address: str, home: str) -> dict[str, Any] | None:
    """The JSON-LD object; None for a run without a verdict and for an imported one, whose verdict is not this site's.

    `address` is where the run's page is, `home` where the site's first page is.
    """
    report = run.report
    if report.verdict is None or report.imported:
        return None
    return {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "url": address,
        "datePublished": run.created_at.date().isoformat(),
        "claimReviewed": report.claim.text,
        "itemReviewed": _claim(report.claim),
        "author": {
            "@type": "SoftwareApplication",
            "name": "Hopcheck",
            "url": home,
            "applicationCategory": "Automated fact checking",
            "description": f"{MACHINE} {CLAIM_ALONE if claim_only(report.options) else READ}",
        },
        "reviewRating": _rating(report.verdict),
    }


def _claim(claim: Claim) -> dict[str, Any]:
    """Who made the claim is a Thing: whether a person or an organisation is not known."""
    told: dict[str, Any] = {"@type": "Claim"}
    if claim.speaker:
        told["author"] = {"@type": "Thing", "name": claim.speaker}
    if claim.date:
        told["datePublished"] = claim.date
    return told


def _rating(verdict: Verdict) -> dict[str, Any]:
    told: dict[str, Any] = {"@type": "Rating", "alternateName": FACES[verdict.label].word}
    if verdict.label in RATINGS:
        told |= {"ratingValue": RATINGS[verdict.label], "bestRating": BEST, "worstRating": WORST}
    reasons = " ".join(sentence.text for sentence in verdict.rationale)
    return {**told, "ratingExplanation": reasons} if reasons else told
