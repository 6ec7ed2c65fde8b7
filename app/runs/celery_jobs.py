"""The job runner with Celery: workers on any machine receive the ids of runs over Redis.

A run's message is sent when the run is created. The scheduler sends it again if it was lost or never sent (queue full,
Redis down), or if the run lost its holder. A second message has no effect, because the run's lease is held.

The key `hopcheck:queued:ID` in Redis marks a run whose message was sent and not yet received, so that several
schedulers do not send it again. `hopcheck:workers` is a sorted set of the workers' names by the time at which each was
last alive.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from celery import Celery, bootsteps
from celery.signals import setup_logging
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

from app.domain.errors import HopcheckError
from app.runs.jobs import RESUBMIT_SECONDS
from app.runs.models import PEOPLE

log = logging.getLogger(__name__)

CARRY_OUT = "hopcheck.carry_out"
QUEUED_SECONDS = 60
"""Lifetime of the mark of a sent message. Then it may be sent again, since a worker may have died with it."""

MAX_QUEUED = 100
"""Messages in one queue; the scheduler sends more as workers take them."""

REDIS_TIMEOUT_SECONDS = 1.0
STATUS_TIMEOUT_SECONDS = 0.4
"""Shorter, because a page waits for the names of the workers."""

WORKERS = "hopcheck:workers"
ANNOUNCE_SECONDS, ALIVE_SECONDS = 2.0, 8.0
"""How often a worker announces that it is alive, and the time after which a silent one counts as dead."""
WORKERS_CACHE_SECONDS = 1.0


def celery_app(url: str, concurrency: int = 1) -> Celery:
    """Return Celery over the Redis at `url`; a worker carries out `concurrency` runs at once.

    With late acknowledgement and a prefetch of one, a worker reserves only the messages it is executing; the scheduler
    resubmits the runs of a dead worker. With threads, all runs share the models in memory; Celery's time limits do not
    work with threads and are not used.
    """
    app = Celery("hopcheck", broker=url, set_as_current=False)
    setup_logging.connect(_keep_logging)
    app.steps["worker"].add(_Announcing)
    app.conf.update(
        broker_connection_max_retries=None,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "queue_order_strategy": "priority",
            "socket_connect_timeout": REDIS_TIMEOUT_SECONDS,
            "retry_on_timeout": True,
        },
        task_acks_late=True,
        task_default_queue=PEOPLE,
        task_ignore_result=True,
        task_publish_retry=False,
        worker_concurrency=concurrency,
        worker_pool="threads",
        worker_prefetch_multiplier=1,
        worker_send_task_events=False,
    )
    return app


class _Announcing(bootsteps.StartStopStep):
    """The part of a Celery worker that announces in Redis that it is alive, and that it leaves."""

    requires = frozenset({"celery.worker.components:Timer"})

    def start(self, parent: Any) -> None:
        self._redis = _connect(parent.app.conf.broker_url)
        self._announce(parent.hostname)
        self._repeated = parent.timer.call_repeatedly(ANNOUNCE_SECONDS, self._announce, (parent.hostname,))

    def stop(self, parent: Any) -> None:
        self._repeated.cancel()
        with suppress(RedisError):
            self._redis.zrem(WORKERS, parent.hostname)

    terminate = stop

    def _announce(self, name: str) -> None:
        with suppress(RedisError):  # it is announced again once Redis answers
            now = _now(self._redis)
            self._redis.zadd(WORKERS, {name: now})
            self._redis.zremrangebyscore(WORKERS, "-inf", now - ALIVE_SECONDS)


class CeleryJobs:
    """Implements `JobRunner`: sends runs to free workers and, in a worker, carries out those received."""

    def __init__(self, carry_out: Callable[[str], None], url: str) -> None:
        self._carry_out = carry_out
        self._celery = celery_app(url)
        self._redis = _connect(url)
        self._url = url
        self._looked_at = float("-inf")
        self._workers: tuple[str, ...] | HopcheckError = ()
        self._stopped = False
        self._is_reachable = True

    def submit(self, run_id: str, queue: str = PEOPLE) -> None:
        """Send the run's message unless one was just sent. If Redis fails, the scheduler submits the run later."""
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
        if self._redis.set(_queued_key(run_id), b"", nx=True, ex=QUEUED_SECONDS):
            self._celery.send_task(CARRY_OUT, (run_id,), queue=queue)
        elif cast(int, self._redis.ttl(_queued_key(run_id))) > QUEUED_SECONDS:  # the clock of Redis was set back
            self._redis.expire(_queued_key(run_id), QUEUED_SECONDS)

    def resubmit_after(self, queue: str) -> float:
        """Return a longer time while the queue has messages; if it is empty, a waiting run's message was lost."""
        try:
            is_empty = cast(int, self._redis.llen(queue)) == 0
        except RedisError:
            return QUEUED_SECONDS  # sending each waiting run's message would only wait for the timeout
        return RESUBMIT_SECONDS if is_empty else QUEUED_SECONDS

    def workers(self) -> tuple[str, ...]:
        """Return the names of the workers that are alive. Asks Redis once a second, however many pages are open.

        Raises HopcheckError if Redis did not answer.
        """
        if time.monotonic() - self._looked_at > WORKERS_CACHE_SECONDS:
            self._looked_at = time.monotonic()
            try:
                self._workers = alive_workers(self._url)
            except HopcheckError as error:
                self._workers = error
        if isinstance(self._workers, HopcheckError):
            raise self._workers
        return self._workers

    def carry_out(self, run_id: str) -> None:
        """Carry out the run of a received message, and remove its mark."""
        try:
            self._redis.delete(_queued_key(run_id))
        except RedisError as error:
            name = type(error).__name__
            log.info("the queued mark of run %s could not be deleted (%s)", run_id, name, extra={"run": run_id})
        self._carry_out(run_id)

    def stop(self, wait: float = 0.0) -> None:
        """Send no more messages.

        Does not wait: the runs in progress end at their next event, because `Runs.stop` has released their leases.
        """
        self._stopped = True


def alive_workers(url: str) -> tuple[str, ...]:
    """Return the names of the workers that announced themselves lately.

    Usually takes less than a second, also if Redis is down. Raises HopcheckError if Redis does not answer.
    """
    try:
        redis = _connect(url, STATUS_TIMEOUT_SECONDS)
        names = cast(list[bytes], redis.zrangebyscore(WORKERS, _now(redis) - ALIVE_SECONDS, "+inf"))
    except RedisError as error:
        raise HopcheckError(f"Redis does not answer ({type(error).__name__}).") from error
    return tuple(sorted(name.decode() for name in names))


def _connect(url: str, timeout: float = REDIS_TIMEOUT_SECONDS) -> Redis:
    return Redis.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout)


def _now(redis: Redis) -> float:
    """Return the time of Redis's clock, which all workers share."""
    seconds, microseconds = cast(tuple[int, int], redis.time())
    return seconds + microseconds / 1e6


def _keep_logging(**_: object) -> None:
    """Prevent Celery from configuring the log, by being connected as a receiver; app/logging.py configures it."""


def _queued_key(run_id: str) -> str:
    return f"hopcheck:queued:{run_id}"
