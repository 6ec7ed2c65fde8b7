"""Who is told that something was stored: whoever follows a run, in this process or in another.

A bell carries no news. Who hears it looks into the database, so a ring that is lost costs a follower the time until it
looks again by itself (event_store.POLL_SECONDS), and nothing else.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)

CHANNEL = "hopcheck:events"
PAUSE_SECONDS = 5.0
"""So long a broken connection is left alone: a Redis that hangs must not hold up every event."""

PATIENCE_SECONDS = 0.5


class Bell(Protocol):
    """Tells other processes that something was stored, and hears it of them."""

    def ring(self) -> None:
        """Something was stored here. Never raises, and takes no more than a moment."""

    def hear(self, told: Callable[[], None]) -> None:
        """From the first call on, call `told` whenever another process rings, until `close`."""

    def close(self) -> None:
        """Hear no more."""


class SilentBell:
    """For one process: there is nobody else to tell."""

    def ring(self) -> None: ...

    def hear(self, told: Callable[[], None]) -> None: ...

    def close(self) -> None: ...


class RedisBell:
    """Redis publish/subscribe. Without Redis it is silent and tries again; one line in the log says so."""

    def __init__(self, url: str, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._url = url
        self._pause_seconds = pause_seconds
        self._mute_until = 0.0
        self._beginning = threading.Lock()
        self._hearing = False
        self._closed = threading.Event()
        self._redis: Redis | None = None
        self._well = True

    def ring(self) -> None:
        from redis import RedisError

        if time.monotonic() < self._mute_until:
            return
        try:
            self._connection().publish(CHANNEL, b"")
        except RedisError as error:
            self._mute_until = time.monotonic() + self._pause_seconds
            self._say(error)

    def hear(self, told: Callable[[], None]) -> None:
        with self._beginning:
            if not self._hearing:
                self._hearing = True
                threading.Thread(target=self._hear_for_ever, args=(told,), name="bell", daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def _hear_for_ever(self, told: Callable[[], None]) -> None:
        from redis import RedisError

        while not self._closed.is_set():
            try:
                with self._connection().pubsub(ignore_subscribe_messages=True) as heard:
                    heard.subscribe(CHANNEL)
                    told()  # what was rung before this one listened
                    self._well = True
                    while not self._closed.is_set():
                        if heard.get_message(timeout=PATIENCE_SECONDS) is not None:
                            told()
            except RedisError as error:
                self._say(error)
                self._closed.wait(self._pause_seconds)

    def _connection(self) -> Redis:
        """Made at the first use, so after any fork; it connects again by itself."""
        if self._redis is None:
            from redis import Redis

            self._redis = Redis.from_url(
                self._url, socket_timeout=PATIENCE_SECONDS * 2, socket_connect_timeout=PATIENCE_SECONDS
            )
        return self._redis

    def _say(self, error: Exception) -> None:
        if self._well:
            log.warning("Redis does not answer (%s); pages follow by looking again", type(error).__name__)
        self._well = False
