"""What a comparison of an answer with the claim, or with another answer, comes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A comparison that could be made: whether it bears the claim out, in words for people, from which hops.

    `claimed` are the claim's own words that were compared.
    """

    agrees: bool
    told: str
    hops: tuple[int, ...]
    claimed: tuple[str, ...] = ()
