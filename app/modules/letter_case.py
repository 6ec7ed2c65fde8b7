"""Read a claim in the usual letter case, as the corpora spell its words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.domain.model import Claim
from app.domain.ports import Retriever
from app.text.clean import has_lost_case, restore_case

SEARCHED = 20
"""Passages whose spelling is looked at."""


@dataclass(frozen=True)
class CaseRestorer:
    """Restores a claim that is all in lower case, all in capitals or in title case; others are returned as they are."""

    retriever: Retriever

    def __call__(self, claim: Claim) -> Claim:
        """Return the claim as its words are spelled in the passages that it finds. Propagates errors of the search."""
        if not has_lost_case(claim.text):
            return claim
        found = self.retriever.retrieve(claim.text, SEARCHED, claim.date)
        return replace(claim, text=restore_case(claim.text, [(each.title, each.text) for each in found]))
