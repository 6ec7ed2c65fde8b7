"""Load the models and indexes of a process in parallel, and keep their state."""

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
"""The name of a component and the function that loads it."""


@dataclass(frozen=True, slots=True)
class Component:
    """The state of one component."""

    name: str
    state: Literal["waiting", "loading", "ready", "failed"]
    message: str = ""
    fix: str = ""  # the command that repairs a failed component


class Components:
    """All components by name. A failure to load one does not affect the others."""

    def __init__(self, loaders: Sequence[Loader]) -> None:
        """Load each component in its own thread; the threads start in the order of `loaders`."""
        self._loaders = loaders
        self._components = {name: Component(name, "waiting") for name, _ in loaders}
        self._warming = threading.Lock()

    def warm(self) -> None:
        """Load every component that is not ready. Blocks; call it again to retry failed ones."""
        with self._warming:
            pending = [(name, load) for name, load in self._loaders if self._components[name].state != "ready"]
            self._load_in_parallel(pending)

    def all(self) -> tuple[Component, ...]:
        """Return the current state of each component, in the order of the loaders."""
        return tuple(self._components.values())

    @property
    def ready(self) -> bool:
        """Return whether every component is loaded."""
        return all(part.state == "ready" for part in self.all())

    def first_failed(self, *names: str) -> Component | None:
        """Return the first of the named components that failed to load, or None."""
        return next((self._components[name] for name in names if self._components[name].state == "failed"), None)

    def _load_in_parallel(self, loaders: Sequence[Loader]) -> None:
        """Load all in parallel, in daemon threads that do not delay the end of the process."""
        threads = [threading.Thread(target=self._load, args=each, name="warm", daemon=True) for each in loaders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _load(self, name: str, load: Callable[[], object]) -> None:
        started, before = time.monotonic(), self._components[name]
        if before.state != "failed":  # a failed component is shown as failed until it has loaded
            self._components[name] = Component(name, "loading")
        try:
            load()
        except ModelUnavailable as error:
            self._components[name] = Component(name, "failed", error.problem, error.fix)
            if self._components[name] != before:  # a repeated failure is not logged again
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
    """An object with components to load."""

    def warm(self) -> None: ...

    @property
    def ready(self) -> bool: ...


def keep_warm(parts: Warmable, every: float = RETRY_SECONDS) -> None:
    """Load the components, and retry failed ones until all are ready, since an operator may repair them."""
    parts.warm()
    while not parts.ready:
        time.sleep(every)
        parts.warm()
