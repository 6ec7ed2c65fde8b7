"""Who measures how runs are carried out. Nobody does unless it is asked for (app/runs/metrics.py)."""

from __future__ import annotations

from typing import Protocol

from app.domain.calls import ResponseStore
from app.domain.events import Event


class Meter(Protocol):
    """Is told what is stored of each run that this process carries out. Never raises; safe to share by threads."""

    def stored(self, run_id: str, event: Event) -> None:
        """The run has had one more event."""

    def left(self, run_id: str) -> None:
        """The run is carried out here no longer: it has ended, or it goes on elsewhere."""

    def stores(self) -> tuple[ResponseStore, ...]:
        """Return stores to use after all others of a run, where they see every call that is really made."""


class NoMeter:
    """Measures nothing."""

    def stored(self, run_id: str, event: Event) -> None: ...

    def left(self, run_id: str) -> None: ...

    def stores(self) -> tuple[ResponseStore, ...]:
        return ()
