"""In what ways a pursuit of evidence may differ from the published one: the rows of the paper's Table 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Variant:
    """One row: what a run does differently.

    `pairs` are wanted in all. `all_at_once`: the questions are asked for in one list, at most `pairs`, and none follows
    from an answer. `padding` makes up the missing pairs: other wordings with fresh answers, the kept pairs once more
    as they are, or nothing. Without `late_verdict` a decided next step is the verdict. `inflate_to` repeats kept pairs
    up to that number, in which the verdict takes no part.
    """

    pairs: int = 5
    all_at_once: bool = False
    padding: Literal["paraphrase", "repeat", "none"] = "paraphrase"
    late_verdict: bool = True
    inflate_to: int = 0
