"""What one reader of a running check is shown next: pieces of the page, each whole and with its id.

A reader's run is folded once and then grows by what happens, however long it is: nothing is folded or drawn twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from flask import render_template

from app.reasoning.events import TERMINAL, AnswerFound, HopKept, RunResumed
from app.reasoning.report import apply
from app.reasoning.types import Hop
from app.runs.service import Place, StoredEvent, StoredRun
from app.web.at_work import at_work


def grown(run: StoredRun, events: Sequence[StoredEvent]) -> StoredRun:
    """The run after these events; those that are folded into it already change nothing."""
    for stored in events:
        if stored.seq > run.last_seq:
            run = replace(run, report=apply(run.report, stored.event, stored.seconds), last_seq=stored.seq)
    return run


class Following:
    """One reader's view of a run: the run as it stands there, and its place in the queue while it waits."""

    def __init__(self, run: StoredRun) -> None:
        self.run = run
        self.place: Place | None = None
        self._lit: tuple[object, ...] = ()  # what the diagram showed when it was drawn last

    @property
    def shows(self) -> tuple[Hashable, ...]:
        """What tells this view from others. Two that show the same show the same after the same events."""
        run = self.run
        return run.id, run.last_seq, run.wish, run.published_at, self._lit

    def happened(self, events: Sequence[StoredEvent]) -> str:
        """Fold these events, where they are new, and draw what they touched."""
        self.run = grown(self.run, events)
        self.place = None  # something happens, so it has its turn
        return self._draw(self._touched(events), coming=True, steer=self._steers_otherwise(events))

    def moved_to(self, place: Place | None) -> str:
        """Note the place in the queue; draw the status when it has changed, else nothing."""
        if place == self.place:
            return ""
        self.place = place
        return self._draw(())

    def _touched(self, events: Sequence[StoredEvent]) -> tuple[Hop, ...]:
        """The hops that these events changed. The end closes what was open, taking up again drops it: then all.

        A new answer folds the card of the answer before it.
        """
        hops = self.run.report.hops
        if any(isinstance(stored.event, (*TERMINAL, RunResumed)) for stored in events):
            return hops
        numbers = {getattr(stored.event, "hop", None) for stored in events}
        for new in [stored.event.hop for stored in events if isinstance(stored.event, AnswerFound)]:
            numbers.add(max((hop.number for hop in hops[: new - 1] if hop.answer), default=None))
        return tuple(hop for hop in hops if hop.number in numbers)

    def _steers_otherwise(self, events: Sequence[StoredEvent]) -> bool:
        """Whether these events change what the owner can do: they keep the first hop, or end the run.

        The buttons are drawn for nothing else, for one that is replaced while it is pressed does nothing. The run may
        have been read after some of these events, so what they kept is counted, not what they changed.
        """
        kept = sum(isinstance(each.event, HopKept) for each in events)
        return bool(self.run.report.ended or (kept and kept == len(self.run.report.context)))

    def _draw(self, hops: Sequence[Hop], coming: bool = False, steer: bool = False) -> str:
        """`hops`, and where `coming` what else moves on the trail: the next hop's place, and what the open one does."""
        report = self.run.report
        lit = (at_work(report), len(report.context), report.ended)
        relit = coming and lit != self._lit
        if relit:
            self._lit = lit
        return render_template(
            "update.html",
            run=self.run,
            report=report,
            hops=hops,
            coming=range(len(report.hops) + 1, report.options.max_hops + 1)[:1] if coming else (),
            busy=coming and report.open_hop and report.open_hop not in hops,
            place=self.place,
            steer=steer,
            relit=relit,
        )
