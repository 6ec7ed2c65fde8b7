"""The heavy parts of a process, how each stands, and loading them one after the other off the request path."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from app.reasoning.errors import ModelUnavailable

log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Part:
    """One heavy part and how it stands; `mend` is the command that makes a failed one right."""

    name: str
    state: Literal["waiting", "loading", "ready", "failed"]
    message: str = ""
    mend: str = ""


class Parts:
    """Parts by name with what loads each. A part that cannot load takes neither the others nor the page with it."""

    def __init__(self, loaders: Sequence[tuple[str, Callable[[], object]]]) -> None:
        self._loaders = dict(loaders)
        self._parts = {name: Part(name, "waiting") for name in self._loaders}
        self._warming = threading.Lock()

    def warm(self) -> None:
        """Load every part that is not ready, one after the other. Blocks; call it again to try again what failed.

        The same failure is logged once, however often it is met.
        """
        with self._warming:
            for name, load in self._loaders.items():
                if self._parts[name].state != "ready":
                    self._load(name, load)

    def all(self) -> tuple[Part, ...]:
        """How each part stands now, in the order they are loaded."""
        return tuple(self._parts.values())

    @property
    def ready(self) -> bool:
        """Whether every part is loaded."""
        return all(part.state == "ready" for part in self.all())

    def why_broken(self, *names: str) -> Part | None:
        """The first of the named parts that failed to load, or None."""
        return next((self._parts[name] for name in names if self._parts[name].state == "failed"), None)

    def _load(self, name: str, load: Callable[[], object]) -> None:
        started, before = time.monotonic(), self._parts[name]
        if before.state != "failed":  # one that failed stays so in everybody's eyes until it has loaded
            self._parts[name] = Part(name, "loading")
        try:
            load()
        except ModelUnavailable as error:
            self._parts[name] = Part(name, "failed", error.problem, error.mend)
            if self._parts[name] != before:
                log.error("%s: %s", name, error)
        except Exception as error:
            self._parts[name] = Part(name, "failed", f"It could not be loaded ({type(error).__name__}).", "make setup")
            if self._parts[name] != before:
                log.exception("%s could not be loaded", name)
        else:
            self._parts[name] = Part(name, "ready")
            log.info("%s ready in %.1f s", name, time.monotonic() - started)


class Warmable(Protocol):
    """Parts, or whatever is made of them."""

    def warm(self) -> None: ...

    @property
    def ready(self) -> bool: ...


def keep_warm(parts: Warmable, every: float = RETRY_SECONDS) -> None:
    """Load the parts, and those that failed again and again until all are there: someone may be mending them now."""
    parts.warm()
    while not parts.ready:
        time.sleep(every)
        parts.warm()
