"""The heavy parts of a process, how each stands, and loading them off the request path, all of them side by side."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from app.domain.errors import ModelUnavailable

log = logging.getLogger(__name__)

RETRY_SECONDS = 30.0

Loader = tuple[str, Callable[[], object]]
"""A part's name with what loads it."""


@dataclass(frozen=True, slots=True)
class Component:
    """One heavy part and how it stands; `fix` is the command that makes a failed one right."""

    name: str
    state: Literal["waiting", "loading", "ready", "failed"]
    message: str = ""
    fix: str = ""


class Components:
    """Parts by name with what loads each. A part that cannot load takes neither the others nor the page with it."""

    def __init__(self, loaders: Sequence[Loader]) -> None:
        """Each part is loaded in a thread of its own; they start in this order."""
        self._loaders = loaders
        self._components = {name: Component(name, "waiting") for name, _ in loaders}
        self._warming = threading.Lock()

    def warm(self) -> None:
        """Load every part that is not ready. Blocks; call it again to try again what failed.

        The same failure is logged once, however often it is met.
        """
        with self._warming:
            self._load_beside([(name, load) for name, load in self._loaders if self._components[name].state != "ready"])

    def all(self) -> tuple[Component, ...]:
        """How each part stands now, in the order in which they are named."""
        return tuple(self._components.values())

    @property
    def ready(self) -> bool:
        """Whether every part is loaded."""
        return all(part.state == "ready" for part in self.all())

    def first_failed(self, *names: str) -> Component | None:
        """The first of the named parts that failed to load, or None."""
        return next((self._components[name] for name in names if self._components[name].state == "failed"), None)

    def _load_beside(self, loaders: Sequence[Loader]) -> None:
        """Load them all at once; a process that ends waits for none of them."""
        threads = [threading.Thread(target=self._load, args=each, name="warm", daemon=True) for each in loaders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _load(self, name: str, load: Callable[[], object]) -> None:
        started, before = time.monotonic(), self._components[name]
        if before.state != "failed":  # one that failed stays so in everybody's eyes until it has loaded
            self._components[name] = Component(name, "loading")
        try:
            load()
        except ModelUnavailable as error:
            self._components[name] = Component(name, "failed", error.problem, error.fix)
            if self._components[name] != before:
                log.error("%s: %s", name, error)
        except Exception as error:
            self._components[name] = Component(
                name, "failed", f"It could not be loaded ({type(error).__name__}).", "make setup"
            )
            if self._components[name] != before:
                log.exception("%s could not be loaded", name)
        else:
            self._components[name] = Component(name, "ready")
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
