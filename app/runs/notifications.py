"""Notify followers in this and other processes that a run has new events.

Messages carry no payload; subscribers re-read the database. A lost message delays a follower until it polls again
(event_store.POLL_SECONDS).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

CHANNEL = "hopcheck:events"

RETRY_SECONDS = 5.0
"""Pause after a failed connection, so that an unresponsive Redis does not delay every event."""

TIMEOUT_SECONDS = 0.5


class Subscription:
    """One follower of a run."""

    def __init__(self) -> None:
        self.changed = threading.Event()
        """Set when a run may have new events."""
        self.ended = threading.Event()
        """Set, together with `changed`, at a run's terminal event and at a shutdown: wait for no more of a burst."""

    def notify(self, ended: bool) -> None:
        if ended:
            self.ended.set()
        self.changed.set()


class LocalSubscribers:
    """The followers in this process, by run, so that an event wakes only those of its run. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_run: dict[str, set[Subscription]] = {}

    @contextmanager
    def subscribe(self, run_id: str) -> Iterator[Subscription]:
        """Yield a subscription that is notified of this run's events inside the block."""
        subscription = Subscription()
        with self._lock:
            self._by_run.setdefault(run_id, set()).add(subscription)
        try:
            yield subscription
        finally:
            with self._lock:
                self._by_run[run_id].discard(subscription)
                if not self._by_run[run_id]:
                    del self._by_run[run_id]

    def notify(self, run_id: str, ended: bool = False) -> None:
        with self._lock:
            for subscription in self._by_run.get(run_id, ()):
                subscription.notify(ended)

    def notify_all(self, ended: bool = False) -> None:
        """Wake all followers, because any run may have new events, or at a shutdown."""
        with self._lock:
            for subscription in set().union(*self._by_run.values()):
                subscription.notify(ended)


class Notifier:
    """Notifications between processes; for a single process it does nothing."""

    def publish(self) -> None:
        """Notify other processes that an event was stored. Never raises, and waits a second or two at most."""

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Call `callback` whenever any process publishes, also this one, until `close`. Only the first call counts."""

    def close(self) -> None:
        """End the subscription."""


class RedisNotifier(Notifier):
    """Notifies with Redis pub/sub. An unreachable Redis is retried, and logged once until the next subscription."""

    def __init__(self, url: str, retry_seconds: float = RETRY_SECONDS) -> None:
        self._url = url
        self._retry_seconds = retry_seconds
        self._publish_after = 0.0
        self._starting = threading.Lock()
        self._is_subscribed = False
        self._closed = threading.Event()
        self._redis: Redis | None = None
        self._is_reachable = True

    def publish(self) -> None:
        from redis import RedisError

        if time.monotonic() < self._publish_after:
            return
        try:
            self._client().publish(CHANNEL, b"")
        except RedisError as error:
            self._publish_after = time.monotonic() + self._retry_seconds
            self._report(error)

    def subscribe(self, callback: Callable[[], None]) -> None:
        with self._starting:
            if not self._is_subscribed:
                self._is_subscribed = True
                listener = threading.Thread(target=self._listen, args=(callback,), name="notifications", daemon=True)
                listener.start()

    def close(self) -> None:
        self._closed.set()

    def _listen(self, callback: Callable[[], None]) -> None:
        from redis import RedisError

        while not self._closed.is_set():
            try:
                with self._client().pubsub(ignore_subscribe_messages=True) as messages:
                    messages.subscribe(CHANNEL)
                    callback()  # events may have been published before
                    self._is_reachable = True
                    while not self._closed.is_set():
                        if messages.get_message(timeout=TIMEOUT_SECONDS) is not None:
                            callback()
            except RedisError as error:
                self._report(error)
                self._closed.wait(self._retry_seconds)

    def _client(self) -> Redis:
        """Return the client, created at the first use and so after any fork; it reconnects by itself."""
        if self._redis is None:
            from redis import Redis

            self._redis = Redis.from_url(
                self._url, socket_timeout=TIMEOUT_SECONDS * 2, socket_connect_timeout=TIMEOUT_SECONDS
            )
        return self._redis

    def _report(self, error: Exception) -> None:
        if self._is_reachable:
            log.warning("Redis does not answer (%s); pages follow by polling the database", type(error).__name__)
        self._is_reachable = False
