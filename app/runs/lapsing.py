"""Which leases have lapsed: those that this process has found unrenewed for long enough, by its own steady clock.

No clock that anybody can set has a say in it. Set an hour forward, the database's would take every run from a holder
that is well; set back, it would keep those of a dead one for an hour; and machines may differ as they like. A renewal
shows by a new `leased_until`, whatever time that is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session, sessionmaker

from app.runs.tables import RUNNING, RunRow

_Held = tuple[str, int, datetime]
"""A run, the epoch of its lease, and until when that was renewed."""


class LeaseWatch:
    """Looks at every lease of one database again and again. Any number of processes may; one of them ends each."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        seconds: float,
        renew_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Leases are renewed every `renew_seconds` and lapse after `seconds` without; `clock` is one nobody sets."""
        self._sessions = sessions
        self._seconds = seconds
        self._renew_seconds = renew_seconds
        self._clock = clock
        self._looked_at = clock()
        self._unrenewed: dict[_Held, float] = {}

    def end_lapsed(self) -> tuple[str, ...]:
        """Look, and end the leases that have lapsed: their runs, which are returned, are free and were cut off.

        A gap between two looks counts as one renewal missed at most. After a database that was gone, a machine that
        slept or a process that was held up, holders so have the time to renew that this one had none to see it in.
        """
        passed = min(self._clock() - self._looked_at, self._renew_seconds)
        found = self._held()
        self._looked_at = self._clock()
        self._unrenewed = {each: self._unrenewed[each] + passed if each in self._unrenewed else 0.0 for each in found}
        lapsed = [each for each, seconds in self._unrenewed.items() if seconds >= self._seconds]
        return tuple(run_id for run_id, *_ in filter(self._end, lapsed))

    def _held(self) -> list[_Held]:
        held = select(RunRow.id, RunRow.epoch, RunRow.leased_until)
        with self._sessions() as session:
            rows = session.execute(held.where(RunRow.state == RUNNING, RunRow.leased_until.is_not(None)))
            return [(row.id, row.epoch, row.leased_until) for row in rows if row.leased_until is not None]

    def _end(self, lapsed: _Held) -> bool:
        """End this lease, unless it was renewed or ended in the meantime."""
        run_id, epoch, until = lapsed
        unchanged = (RunRow.id == run_id, RunRow.state == RUNNING, RunRow.epoch == epoch, RunRow.leased_until == until)
        freed = {"epoch": RunRow.epoch + 1, "holder": None, "leased_until": None, "cut_offs": RunRow.cut_offs + 1}
        with self._sessions.begin() as session:
            ended = session.execute(update(RunRow).where(*unchanged).values(**freed).returning(RunRow.id))
            return ended.one_or_none() is not None
