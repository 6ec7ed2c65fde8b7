"""What the papers report, as data with its place in the paper. Only figures that could be looked up are here.

QACheck (Pan et al., EMNLP 2023 demos, arXiv 2310.07609): section 4 gives its own row of Table 1 in words. The other
rows of Table 1, which it takes from Pan et al. (ACL 2023), could not be looked up, so they stand without figures.
Papelo (Malon, FEVER 2024, arXiv 2411.05762): the abstract gives the submitted system's score and how far asking all
questions at once falls behind it. The rows of Tables 2 and 3 could not be looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Measure = Literal["macro_f1", "accuracy", "averitec"]
"""`averitec` is the AVeriTeC score at 0.25."""


@dataclass(frozen=True, slots=True)
class Reported:
    """A figure of a paper: for which row of a table (by its name in paper_tables.py), on what, and where it stands.

    `column` is "2", "3" or "4" (HoVer, by hops), "FEVEROUS", "AVeriTeC dev" or "AVeriTeC test". A figure is a share,
    not per cent. `difference` says that it is less than the submitted system's by so much.
    """

    row: str
    column: str
    measure: Measure
    value: float
    place: str
    difference: bool = False


_QACHECK = "QACheck, section 4 and Table 1"
_PAPELO = "Papelo, abstract"

REPORTED = (
    Reported("reciter-reader", "2", "macro_f1", 0.5567, _QACHECK),
    Reported("reciter-reader", "3", "macro_f1", 0.5467, _QACHECK),
    Reported("reciter-reader", "4", "macro_f1", 0.5235, _QACHECK),
    Reported("reciter-reader", "FEVEROUS", "macro_f1", 0.5947, _QACHECK),
    Reported("paper", "AVeriTeC dev", "averitec", 0.510, _PAPELO),
    Reported("paper", "AVeriTeC test", "averitec", 0.477, _PAPELO),
    Reported("all-at-once", "AVeriTeC dev", "averitec", -0.155, _PAPELO, difference=True),
    Reported("all-at-once", "AVeriTeC dev", "accuracy", -0.045, _PAPELO, difference=True),
)


def reported_for(row: str, column: str, measure: Measure) -> Reported | None:
    """The paper's figure, None where there is none."""
    found = (each for each in REPORTED if (each.row, each.column, each.measure) == (row, column, measure))
    return next(found, None)
