"""What one reader of a running check is shown next: pieces of the page, each whole and with its id.

A reader's run is folded once and then grows by what happens, however long it is: nothing is folded or drawn twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flask import render_template

from app.reasoning.events import TERMINAL, HopKept, RunResumed
from app.reasoning.report import apply
from app.reasoning.types import Hop
from app.runs.service import Place, StoredEvent, StoredRun


class Following:
    """One reader's view of a run: the run as it stands there, and its place in the queue while it waits."""

    def __init__(self, run: StoredRun) -> None:
        self.run = run
        self.place: Place | None = None

    def happened(self, events: Sequence[StoredEvent]) -> str:
        """Fold these events, where they are new, and draw what they touched."""
        for stored in events:
            if stored.seq > self.run.last_seq:
                report = apply(self.run.report, stored.event, stored.seconds)
                self.run = replace(self.run, report=report, last_seq=stored.seq)
        self.place = None  # something happens, so it has its turn
        hops_stand = all(not isinstance(each.event, RunResumed) for each in events)
        return self._draw(self._touched(events), hops_stand, self._steers_otherwise(events))

    def moved_to(self, place: Place | None) -> str:
        """Note the place in the queue; draw the status when it has changed, else nothing."""
        if place == self.place:
            return ""
        self.place = place
        return self._draw(())

    def _touched(self, events: Sequence[StoredEvent]) -> tuple[Hop, ...]:
        """The hops that these events changed. The end closes what was open, taking up again drops it: then all."""
        hops = self.run.report.hops
        if any(isinstance(stored.event, (*TERMINAL, RunResumed)) for stored in events):
            return hops
        numbers = {getattr(stored.event, "hop", None) for stored in events}
        return tuple(hop for hop in hops if hop.number in numbers)

    def _steers_otherwise(self, events: Sequence[StoredEvent]) -> bool:
        """Whether these events change what the owner can do: they keep the first hop, or end the run.

        The buttons are drawn for nothing else, for one that is replaced while it is pressed does nothing. The run may
        have been read after some of these events, so what they kept is counted, not what they changed.
        """
        kept = sum(isinstance(each.event, HopKept) for each in events)
        return bool(self.run.report.ended or (kept and kept == len(self.run.report.context)))

    def _draw(self, hops: Sequence[Hop], hops_stand: bool = True, steer: bool = False) -> str:
        report = self.run.report
        empty = () if hops_stand else range(len(report.hops) + 1, report.options.max_hops + 1)
        return render_template(
            "update.html", run=self.run, report=report, hops=hops, empty=empty, place=self.place, steer=steer
        )
