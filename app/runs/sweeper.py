"""Takes up what lies about: waiting runs of a process that is gone, and runs whose holders renew their lease no more.

It also sees to it that batches go on. What was deleted a while ago it sweeps out for good.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from app.reasoning.errors import HopcheckError
from app.runs.jobs import QUEUES, JobRunner
from app.runs.leases import Leases

log = logging.getLogger(__name__)

SWEEP_SECONDS = 2.0
GRACE_SECONDS = 5.0
"""A run younger than this is about to be taken by the process that stored it."""


class Sweeper:
    """Every few seconds names free runs to `jobs`, feeds and purges. Several servers may sweep one database."""

    def __init__(
        self,
        leases: Leases,
        jobs: JobRunner,
        every: float = SWEEP_SECONDS,
        grace: float = GRACE_SECONDS,
        purge: Callable[[], object] = tuple,
        feed: Callable[[], object] = tuple,
    ) -> None:
        self._leases = leases
        self._jobs = jobs
        self._every = every
        self._grace = grace
        self._purge = purge
        self._feed = feed
        self._stopped = threading.Event()

    def start(self) -> None:
        """Sweep now and from now on, in a thread of its own."""
        threading.Thread(target=self._sweep_for_ever, name="sweeper", daemon=True).start()

    def stop(self) -> None:
        """Sweep no more."""
        self._stopped.set()

    def sweep(self) -> None:
        """Name every free run once, people's first and then the oldest; whose it becomes its lease decides."""
        self._leases.end_lapsed()
        for queue in QUEUES:
            for run_id in self._leases.free(self._grace, queue):
                self._jobs.submit(run_id, queue)
        self._feed()
        self._purge()

    def _sweep_for_ever(self) -> None:
        well = True
        while not self._stopped.is_set():
            try:
                self.sweep()
                well = True
            except Exception as error:  # a locked database, a table not yet there: the next sweep may work
                if well:
                    foreseen = isinstance(error, HopcheckError)
                    log.warning("unfinished and deleted runs could not be looked for: %s", error, exc_info=not foreseen)
                well = False
            self._stopped.wait(self._every)
