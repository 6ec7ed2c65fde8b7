"""The job runner with Celery: workers on any machine receive the ids of runs over Redis.

Celery alone dispatches runs here; the scheduler submits only runs that lost their holder, and those whose message was
lost. A message that comes twice finds the lease held. `hopcheck:queued:ID` in Redis marks for a while that a run's
message is under way, so that several schedulers do not send it again; the worker that receives it removes the mark.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import cast

from celery import Celery
from celery.signals import setup_logging
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

from app.domain.errors import HopcheckError
from app.runs.jobs import PEOPLE, RESUBMIT_SECONDS

log = logging.getLogger(__name__)

CARRY_OUT = "hopcheck.carry_out"
QUEUED_SECONDS = 60
"""Time for which a message counts as under way. Then it may be sent again: a worker may have died with it."""

MAX_QUEUED = 100
"""Messages in one queue; the scheduler sends the others when it has become shorter."""

TIMEOUT_SECONDS = 1.0


def celery_app(url: str, workers: int = 1) -> Celery:
    """Return Celery over the Redis at `url`; a worker carries out `workers` runs at once.

    Late acknowledgement and a prefetch of one, so that a dead or busy worker withholds no messages from the others.
    Threads, so that all runs share the models in memory; Celery's own time limits do not work there, Hopcheck's do.
    """
    app = Celery("hopcheck", broker=url, set_as_current=False)
    setup_logging.connect(_keep_logging)
    app.conf.update(
        broker_connection_max_retries=None,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "queue_order_strategy": "priority",
            "socket_connect_timeout": TIMEOUT_SECONDS,
            "retry_on_timeout": True,
        },
        task_acks_late=True,
        task_default_queue=PEOPLE,
        task_ignore_result=True,
        task_publish_retry=False,
        worker_concurrency=workers,
        worker_pool="threads",
        worker_prefetch_multiplier=1,
        worker_send_task_events=False,
    )
    return app


class CeleryJobs:
    """Implements `JobRunner`: sends runs to free workers and, in a worker, carries out those received."""

    def __init__(self, carry_out: Callable[[str], None], url: str) -> None:
        self._carry_out = carry_out
        self._celery = celery_app(url)
        self._redis = Redis.from_url(url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)
        self._stopped = False
        self._is_reachable = True

    def submit(self, run_id: str, queue: str = PEOPLE) -> None:
        """Send the run's message unless it is under way. Without Redis the run waits for the scheduler."""
        if self._stopped:
            return
        try:
            self._send(run_id, queue)
        except (RedisError, OperationalError) as error:
            if self._is_reachable:
                log.warning("Redis does not answer (%s); runs wait until it does", type(error).__name__)
            self._is_reachable = False
        else:
            self._is_reachable = True

    def _send(self, run_id: str, queue: str) -> None:
        is_full = cast(int, self._redis.llen(queue)) >= MAX_QUEUED
        if is_full:
            return
        if self._redis.set(_queued(run_id), b"", nx=True, ex=QUEUED_SECONDS):
            self._celery.send_task(CARRY_OUT, (run_id,), queue=queue)
        elif cast(int, self._redis.ttl(_queued(run_id))) > QUEUED_SECONDS:  # its clock was set back meanwhile
            self._redis.expire(_queued(run_id), QUEUED_SECONDS)

    def resubmit_after(self, queue: str) -> float:
        """Return a longer time while the queue has messages, which may be of waiting runs; an empty one lost them."""
        try:
            is_empty = cast(int, self._redis.llen(queue)) == 0
        except RedisError:
            return QUEUED_SECONDS
        return RESUBMIT_SECONDS if is_empty else QUEUED_SECONDS

    def carry_out(self, run_id: str) -> None:
        """Handle a message in a worker. If the run is free again later, the scheduler may send another."""
        try:
            self._redis.delete(_queued(run_id))
        except RedisError as error:
            log.info("run %s is not marked as received (%s)", run_id, type(error).__name__)
        self._carry_out(run_id)

    def stop(self, wait: float = 0.0) -> None:
        """Send nothing more. Runs under way here end when they find that their lease was released."""
        self._stopped = True


def answering_workers(url: str) -> tuple[str, ...]:
    """Return the names of the workers that answer within a second, or within three more where none does.

    Raises HopcheckError where Redis does not answer.
    """
    try:
        Redis.from_url(url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS).ping()
        control = celery_app(url).control
        answers = control.ping(timeout=TIMEOUT_SECONDS) or control.ping(timeout=3 * TIMEOUT_SECONDS) or []
    except (RedisError, OperationalError) as error:
        raise HopcheckError(f"Redis does not answer ({type(error).__name__}).") from error
    return tuple(sorted(name for answer in answers for name in answer))


def _keep_logging(**_: object) -> None:
    """Prevent Celery from configuring the log, by being connected as a receiver; app/logging.py configures it."""


def _queued(run_id: str) -> str:
    return f"hopcheck:queued:{run_id}"
