"""A real worker of Celery's in a thread of the test's process."""

from __future__ import annotations

from contextlib import AbstractContextManager

from celery import Celery
from celery.contrib.testing.worker import start_worker

from app.runs.jobs import QUEUES
from tests.waiting import LONG


def at_work(app: Celery) -> AbstractContextManager:
    """For the block a worker takes the messages of `app`, one at a time; it leaves when it has done what it does."""
    return start_worker(
        app, queues=list(QUEUES), pool="threads", concurrency=1, perform_ping_check=False, shutdown_timeout=LONG
    )
