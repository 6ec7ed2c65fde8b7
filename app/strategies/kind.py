"""What the application knows of a strategy besides how it runs: a record beside each one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from app.domain.messages import Words
from app.domain.model import Need
from app.domain.ports import Strategy
from app.domain.report import Report


class Module(NamedTuple):
    box: str  # CSS class of its box
    name: str
    does: str
    stage: str = "Decide"  # of a run in which it is at work


ANSWERER = Module(
    "answerer",
    Words("Question answering"),
    Words("Looks for a passage that answers the question, and takes the answer from it."),
)
REASONER = Module(
    "reasoner", Words("Reasoner"), Words("Compares the claim with the answers, and gives the verdict with its reasons.")
)


@dataclass(frozen=True)
class StrategyKind:
    """A strategy as an option of a run."""

    name: str
    title: str  # where it is chosen
    words: str  # where a run is described
    build: Callable[..., Strategy]  # gets those parts of a run that its parameters name, from the container
    roles: tuple[str, ...]  # whose implementations a report names
    needs: tuple[Need, ...] = ()
    modules: tuple[Module, ...] = ()  # in the diagram; none for a baseline, which asks about the claim alone
    at_work: Callable[[Report], Module] = lambda report: REASONER  # until the questions end, unless it is ANSWERER
