"""Who measures how runs are carried out. Nobody does unless it is asked for (app/runs/metrics.py)."""

from __future__ import annotations

from typing import Protocol

from app.domain.calls import Memory
from app.domain.events import Event


class Meter(Protocol):
    """Is told what is stored of each run that this process carries out. Never raises; safe to share by threads."""

    def stored(self, run_id: str, event: Event) -> None:
        """The run has had one more event."""

    def left(self, run_id: str) -> None:
        """The run is carried out here no longer: it has ended, or it goes on elsewhere."""

    def memories(self) -> tuple[Memory, ...]:
        """What is to stand behind all other memories of a run, where it hears of every call that is really made."""


class NoMeter:
    """Measures nothing."""

    def stored(self, run_id: str, event: Event) -> None: ...

    def left(self, run_id: str) -> None: ...

    def memories(self) -> tuple[Memory, ...]:
        return ()
