"""Which module a run is waiting for, read off its report: what the diagram of the modules lights up.

The strategies say what came back before they make their next call, so the last thing that happened tells whose reply
comes next. Nothing of it is stored, and logs of earlier versions light up as well. Where calls overlap, this is the
one whose reply is used next; others may be at work ahead of their turn.
"""

from __future__ import annotations

from typing import NamedTuple

from app.capabilities.options import PURSUIT
from app.domain.model import HopStatus, RunOptions
from app.domain.report import Report
from app.runs.event_store import WAITING


class Module(NamedTuple):
    """A module as the diagram names it: the class of its box, its name, and what it does in plain words."""

    box: str
    name: str
    does: str


VERIFIER = Module(
    "verifier", "Claim verifier", "Looks at the kept pairs and says whether they are enough to decide the claim."
)
GENERATOR = Module(
    "generator", "Question generator", "Asks for the next thing to know, building on the answers that were kept."
)
ANSWERER = Module(
    "answerer", "Question answering", "Looks for evidence and takes an answer out of it, or says that there is none."
)
VALIDATOR = Module(
    "validator", "QA validator", "Keeps a question and its answer when they help with the claim, or sets them aside."
)
REASONER = Module("reasoner", "Reasoner", "Weighs the kept pairs against the claim, and gives the verdict its reasons.")
QUESTIONER = Module(
    "questioner", "Questioner", "Asks a question; after each answer it decides the claim, or asks one more."
)
PARAPHRASER = Module(
    "paraphraser", "Paraphraser", "Puts a question in other words, so that it meets other documents and answers."
)

GUIDED_MODULES = (GENERATOR, ANSWERER, VALIDATOR, VERIFIER, REASONER)
PURSUIT_MODULES = (QUESTIONER, ANSWERER, PARAPHRASER, REASONER)


def pursues(options: RunOptions) -> bool:
    """Whether the run is an evidence pursuit, which has modules of its own."""
    return options.strategy == PURSUIT


def at_work(report: Report) -> Module | None:
    """The module whose reply the run waits for; None before its turn, and after its end."""
    if report.ended or report.phase in ("", WAITING.phase):
        return None
    if report.stopped_because:
        return REASONER
    last = report.hops[-1] if report.hops else None
    if last and last.status is HopStatus.OPEN and not last.answer:
        return ANSWERER
    if pursues(report.options):
        return PARAPHRASER if report.judged_after else QUESTIONER
    if last and last.status is HopStatus.OPEN:
        return VALIDATOR
    kept = last is not None and last.status is HopStatus.KEPT
    return VERIFIER if kept and report.judged_after < len(report.hops) else GENERATOR
