"""Runs carried out by workers elsewhere: Celery brings them the run's id, over Redis.

The broker only wakes. A message that is lost is sent again by the sweeper, one that comes twice finds that the lease is
taken. `hopcheck:queued:ID` in Redis remembers for a while that a run's message is on its way, so that the sweepers of
several processes do not fill the queue with it; who takes the message up forgets that first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import cast

from celery import Celery
from celery.signals import setup_logging
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

from app.reasoning.errors import HopcheckError
from app.runs.jobs import PEOPLE

log = logging.getLogger(__name__)

CARRY_OUT = "hopcheck.carry_out"
QUEUED_SECONDS = 5
"""A run that is free when this is over is sent once more: a worker may have died with its message."""

MOST_QUEUED = 100
"""With so many messages in a queue no more are sent: the sweeper sends the others when it has become shorter."""

PATIENCE_SECONDS = 1.0


def celery_app(url: str, workers: int = 1) -> Celery:
    """Celery over the Redis at `url`; `workers` is how many runs a worker carries out at once.

    Late acknowledgement and a prefetch of one, so that a worker that dies or is busy keeps nothing from the others.
    Threads, so that all runs share the models in memory; Celery's own time limits do not work there, ours do.
    """
    app = Celery("hopcheck", broker=url, set_as_current=False)
    setup_logging.connect(_leave_the_log_alone)
    app.conf.update(
        broker_connection_max_retries=None,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "queue_order_strategy": "priority",
            "socket_connect_timeout": PATIENCE_SECONDS,
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
    """Implements `JobRunner`: names runs to whichever worker is free, and carries out what a worker is brought."""

    def __init__(self, carry_out: Callable[[str], None], url: str) -> None:
        self._carry_out = carry_out
        self._celery = celery_app(url)
        self._redis = Redis.from_url(url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS)
        self._stopped = False
        self._well = True

    def submit(self, run_id: str, queue: str = PEOPLE) -> None:
        """Send the run's message unless it is on its way. Without Redis the run waits; the sweeper comes again."""
        if self._stopped:
            return
        try:
            self._send(run_id, queue)
        except (RedisError, OperationalError) as error:
            if self._well:
                log.warning("Redis does not answer (%s); runs wait until it does", type(error).__name__)
            self._well = False
        else:
            self._well = True

    def _send(self, run_id: str, queue: str) -> None:
        is_full = cast(int, self._redis.llen(queue)) >= MOST_QUEUED
        if is_full:
            return
        if self._redis.set(_queued(run_id), b"", nx=True, ex=QUEUED_SECONDS):
            self._celery.send_task(CARRY_OUT, (run_id,), queue=queue)
        elif cast(int, self._redis.ttl(_queued(run_id))) > QUEUED_SECONDS:  # its clock was set back meanwhile
            self._redis.expire(_queued(run_id), QUEUED_SECONDS)

    def carry_out(self, run_id: str) -> None:
        """What a worker does with a message. From now on a sweeper that finds the run free sends another."""
        try:
            self._redis.delete(_queued(run_id))
        except RedisError as error:
            log.info("run %s is not marked as taken up (%s)", run_id, type(error).__name__)
        self._carry_out(run_id)

    def stop(self, wait: float = 0.0) -> None:
        """Send nothing more. What is under way here ends when it finds that its lease is gone."""
        self._stopped = True


def answering_workers(url: str) -> tuple[str, ...]:
    """The names of the workers that answer in a second, or in three more where none does: who computes may be late.

    Raises HopcheckError where Redis does not answer.
    """
    try:
        Redis.from_url(url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS).ping()
        control = celery_app(url).control
        answers = control.ping(timeout=PATIENCE_SECONDS) or control.ping(timeout=3 * PATIENCE_SECONDS) or []
    except (RedisError, OperationalError) as error:
        raise HopcheckError(f"Redis does not answer ({type(error).__name__}).") from error
    return tuple(sorted(name for answer in answers for name in answer))


def _leave_the_log_alone(**_: object) -> None:
    """That somebody listens keeps Celery from setting the log up; app/logs.py does."""


def _queued(run_id: str) -> str:
    return f"hopcheck:queued:{run_id}"
