"""A real Celery worker in a thread of the test process."""

from __future__ import annotations

from contextlib import AbstractContextManager

from celery import Celery
from celery.contrib.testing.worker import start_worker

from app.runs.models import QUEUES
from tests.waiting import LONG


def at_work(app: Celery) -> AbstractContextManager:
    """Run a worker for the block; it handles one message of `app` at a time and finishes the current one on exit."""
    return start_worker(
        app, queues=list(QUEUES), pool="threads", concurrency=1, perform_ping_check=False, shutdown_timeout=LONG
    )
