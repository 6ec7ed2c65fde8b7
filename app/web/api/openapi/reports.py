"""The operations of the OpenAPI document that take reports away and put them side by side."""

from __future__ import annotations

from app.runs.comparing import FEWEST, MOST
from app.web.api.openapi.parts import BY_ID, Operation, PathItem, in_query, of_a_run, of_type, operation, told
from app.web.api.schemas.parts import listed, text


def report_paths() -> dict[str, PathItem]:
    """The addresses below the API's own, and what can be asked there."""
    return {
        "/runs/{run_id}/export.md": of_a_run(get=_markdown()),
        "/runs/{run_id}/claimreview.json": of_a_run(get=_claim_review()),
        "/compare": {"get": _compare()},
    }


def _markdown() -> Operation:
    answers = {200: of_type("text/markdown", "The trail.", text())}
    about = "The claim, the verdict and every hop with its cited passage; 409 while the run goes on."
    notes = in_query("notes", text(enum=["yes"]), "Add your notes; for a run of yours.")
    problems = (401, 409, 422, *BY_ID)
    return operation("markdown", "Read a report in Markdown", answers, about, problems, parameters=(notes,))


def _claim_review() -> Operation:
    answers = {200: of_type("application/ld+json", "The review, in JSON-LD.", {"type": "object"})}
    about = "schema.org's ClaimReview; 409 for a run without a verdict of its own."
    return operation("claimReview", "Read a verdict as ClaimReview", answers, about, (409, *BY_ID))


def _compare() -> Operation:
    ids = {**listed(text()), "minItems": FEWEST, "maxItems": MOST}
    run = {**in_query("run", ids, "The ids, one parameter each; of runs of one claim."), "required": True}
    about = "As they stand; each can be followed by itself. Open to whoever has the ids."
    answers = {200: told("The runs side by side.", "Comparison")}
    return operation("compare", "Compare runs of a claim", answers, about, (422, *BY_ID), parameters=(run,))
