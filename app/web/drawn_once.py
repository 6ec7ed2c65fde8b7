"""What many readers are shown alike is drawn once: the first draws, whoever asks meanwhile or soon after gets the same.

The drawings are kept by all that they depend on, so nothing of them grows old; the oldest make room.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

MOST = 128
"""Drawings that are kept: some seconds of a busy site, a few megabytes."""

Drawing = TypeVar("Drawing")


class Drawings:
    """The newest drawings of a process. Safe to share between threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()

    def once(self, key: Hashable, draw: Callable[[], Drawing]) -> Drawing:
        """What `draw` gives for this key, now or when it was asked for first. What it raises is raised to all who wait.

        Nothing is kept of a drawing that failed.
        """
        with self._lock:
            drawn = self._kept.get(key)
            if first := drawn is None:
                drawn = self._kept[key] = Future()
                if len(self._kept) > self._most:
                    self._kept.popitem(last=False)
        if first:
            try:
                drawn.set_result(draw())
            except BaseException as error:
                with self._lock:
                    self._kept.pop(key, None)
                drawn.set_exception(error)
        return drawn.result()
