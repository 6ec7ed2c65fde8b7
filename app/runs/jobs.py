"""Where runs are carried out: a small port, and a bounded pool of threads behind it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol


class JobRunner(Protocol):
    """Carries out work somewhere else, in the order it came, some of it at once."""

    def submit(self, run_id: str, work: Callable[[], None]) -> None:
        """Queue `work`, which handles its own errors. Raises RuntimeError after `stop`."""

    def stop(self) -> None:
        """Take nothing more, and wait until what was queued is done."""


class ThreadJobs:
    """Up to `workers` runs at once in threads of this process; the others wait, first come, first served."""

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="run")

    def submit(self, run_id: str, work: Callable[[], None]) -> None:
        """Queue `work`. The pool starts its threads at the first call, so a process may fork before that."""
        self._pool.submit(work)

    def stop(self) -> None:
        """Wait for what is queued: a run that was told to stop ends at its next step."""
        self._pool.shutdown(wait=True)
