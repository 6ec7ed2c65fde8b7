"""What a run's trail shows besides its hops: the hop that is being asked, what is done now, and what stands open.

All of it is read off the report, so a page that is loaded and a card that the stream brings say the same.
"""

from __future__ import annotations

from app.domain.model import Answer, Hop, HopStatus, Passage
from app.domain.report import Report
from app.runs.event_store import WAITING


def asking(report: Report) -> int | None:
    """The number of the hop that a question is being thought of for, or None while none is.

    Whether it will be asked is not sure: there may be nothing left to ask.
    """
    waits = report.phase in ("", WAITING.phase)
    last = report.hops[-1] if report.hops else None
    weighed = last is None or last in report.set_aside or report.judged_after >= last.number
    if waits or report.ended or report.stopped_because or report.open_hop or not weighed:
        return None
    return len(report.hops) + 1 if len(report.hops) < report.options.max_hops else None


def doing(report: Report) -> str:
    """What is being done now: what the module at work says of it, or what is known to come next."""
    if not report.phase_over or not report.phase:
        return report.phase
    if report.stopped_because:
        return "weighing the evidence"
    if report.open_hop:
        return "weighing the answer" if report.open_hop.answer else "looking for evidence"
    return "thinking of a question" if asking(report) else "weighing whether this is enough"


def unfolded(hop: Hop, report: Report) -> bool:
    """Whether a hop's card is open where its reader has not said so: the newest answer, while the run goes on."""
    later = report.hops[hop.number :]
    return not report.ended and not any(each.answer for each in later)


def told_aloud(hop: Hop, report: Report) -> bool:
    """Whether a screen reader reads out the hop's card when it comes: when its outcome is there, and not again.

    A card comes whole whenever something in it changes, and a log reads out whatever comes.
    """
    return not report.ended and hop.status is not HopStatus.OPEN and (not hop.answer or unfolded(hop, report))


def looked_at(answer: Answer) -> tuple[Passage, ...]:
    """Every passage behind an answer, the cited one first, the others as they were ranked."""
    cited = answer.cited.passage if answer.cited else None
    others = tuple(passage for passage in answer.retrieved if passage != cited)
    return (cited, *others) if cited else others


def scored(answer: Answer) -> bool:
    """Whether the scores of its passages say anything: whoever does not score leaves them all alike."""
    return len({passage.score for passage in answer.retrieved}) > 1
