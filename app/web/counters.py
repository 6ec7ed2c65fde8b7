"""Where requests are counted: in Redis for all servers together, and in this process's memory while Redis is away.

Flask-Limiter's own way of falling back takes every error for a broken storage, our way of turning people away too.
And no storage of its own gives back what was counted.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from limits.storage import MemoryStorage, MovingWindowSupport, RedisStorage, Storage

log = logging.getLogger(__name__)

PREFIX = "steady+"
NO_REDIS = f"{PREFIX}memory://"
PAUSE_SECONDS = 5.0
"""So long a Redis that failed is left alone: one that hangs must not hold up every form."""

PATIENCE_SECONDS = 0.5

T = TypeVar("T")


def counters_at(redis_url: str) -> str:
    """The storage's address, as Flask-Limiter takes it; "" stands for no Redis."""
    return f"{PREFIX}{redis_url}" if redis_url else NO_REDIS


class SteadyStorage(Storage, MovingWindowSupport):
    """Counts in Redis if it can. What was counted in the other place is not known where it counts now."""

    STORAGE_SCHEME = [f"{PREFIX}{scheme}" for scheme in ("redis", "rediss", "memory")]  # noqa: RUF012 - Storage's way

    def __init__(self, uri: str, wrap_exceptions: bool = False, pause_seconds: float = PAUSE_SECONDS) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self._redis = None if uri == NO_REDIS else _redis_at(uri.removeprefix(PREFIX))
        self._memory = MemoryStorage()
        self._lock = threading.Lock()  # its own are forgotten with what they guard, while somebody may wait for one
        self._pause_seconds = pause_seconds
        self._away_until = 0.0
        self._well = True

    @property
    def base_exceptions(self) -> type[Exception] | tuple[type[Exception], ...]:
        return (self._redis or self._memory).base_exceptions

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Ask and count in one step: of those who come at the same moment no more get in than may."""
        return self._do(lambda counters: counters.acquire_entry(key, limit, expiry, amount))

    def give_back(self, key: str) -> None:
        """Forget the newest of what was counted under `key`."""
        self._do(lambda counters: _forget_newest(counters, key))

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        return self._do(lambda counters: counters.get_moving_window(key, limit, expiry))

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        return self._do(lambda counters: counters.incr(key, expiry, amount=amount))

    def get(self, key: str) -> int:
        return self._do(lambda counters: counters.get(key))

    def get_expiry(self, key: str) -> float:
        return self._do(lambda counters: counters.get_expiry(key))

    def clear(self, key: str) -> None:
        self._do(lambda counters: counters.clear(key))

    def reset(self) -> int | None:
        return self._do(lambda counters: counters.reset())

    def check(self) -> bool:
        return True

    def _do(self, work: Callable[[RedisStorage | MemoryStorage], T]) -> T:
        if self._redis and time.monotonic() >= self._away_until:
            try:
                done = work(self._redis)
            except self._redis.base_exceptions as error:
                self._away_until = time.monotonic() + self._pause_seconds
                if self._well:
                    log.warning("Redis does not answer (%s); requests are counted here alone", type(error).__name__)
                self._well = False
            else:
                self._well = True
                return done
        with self._lock:
            return work(self._memory)


def _redis_at(url: str) -> RedisStorage:
    return RedisStorage(url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS)


def _forget_newest(counters: RedisStorage | MemoryStorage, key: str) -> None:
    """Take one off, and keep nothing of a key without any: neither its list nor its lock."""
    if isinstance(counters, RedisStorage):
        counters.storage.lpop(counters.prefixed_key(key))
    else:
        with counters.locks[key]:
            newest_first = counters.events.get(key, [])
            del newest_first[:1]
            if not newest_first:
                counters.clear(key)
