"""Load the models and indexes of a process in parallel, and keep their state."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from app.config import make
from app.domain.errors import ModelUnavailable
from app.domain.messages import Words

log = logging.getLogger(__name__)

MODEL, CORPUS, RERANKER = Words("local model"), Words("corpus and retriever"), Words("reranker")
"""The names of the components of the default configuration."""
RETRY_SECONDS = 30.0
"""Time between two attempts to load failed components."""

Loader = tuple[str, Callable[[], object]]
"""The name of a component and the function that loads it."""


@dataclass(frozen=True, slots=True)
class Component:
    """A model or index that loads slowly, and its state."""

    name: str
    state: Literal["waiting", "loading", "ready", "failed"]
    message: str = ""
    fix: str = ""
    """The command that repairs a failed component."""


class Components:
    """All components of a process. `warm` loads them; a failure to load one does not affect the others."""

    def __init__(self, loaders: Sequence[Loader]) -> None:
        self._loaders = loaders
        self._components = {name: Component(name, "waiting") for name, _ in loaders}
        self._warming = threading.Lock()

    def warm(self) -> None:
        """Load every component that is not ready, and return when all have been tried. Call again to retry failed ones.

        Each component has its own thread; the threads start in the order of the loaders.
        """
        with self._warming:
            pending = [each for each in self._loaders if self._components[each[0]].state != "ready"]
            # Daemon threads, so that a server that is stopped does not wait for a slow load.
            threads = [threading.Thread(target=self._load, args=each, name="warm", daemon=True) for each in pending]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def all(self) -> tuple[Component, ...]:
        """Return the current state of each component, in the order of the loaders."""
        return tuple(self._components.values())

    @property
    def ready(self) -> bool:
        return all(part.state == "ready" for part in self.all())

    def _load(self, name: str, load: Callable[[], object]) -> None:
        started, before = time.monotonic(), self._components[name]
        if before.state != "failed":  # a failed component is shown as failed until it has loaded
            self._components[name] = Component(name, "loading")
        try:
            load()
        except ModelUnavailable as error:
            failed = Component(name, "failed", error.problem, error.fix)
            self._components[name] = failed
            if failed != before:  # a repeated failure is not logged again
                log.error("%s: %s", name, error)
        except Exception as error:
            failed = Component(
                name, "failed", Words("It could not be loaded ({name}).", name=type(error).__name__), make("setup")
            )
            self._components[name] = failed
            if failed != before:
                log.exception("%s could not be loaded", name)
        else:
            self._components[name] = Component(name, "ready")
            log.info("%s ready in %.1f s", name, time.monotonic() - started)


def start_loading(loads: Iterable[Callable[[], object]], after: float = 0.0) -> None:
    """Load parts in threads, `after` seconds from now, without waiting for them.

    An error is raised again where the part is used.
    """
    for load in loads:
        # Not daemon threads, unlike those of `warm`: a command that ends inside an import of PyTorch may abort, and its
        # exit status is lost.
        timer = threading.Timer(after, _without_errors, (load,))
        timer.name = "load"
        timer.start()


def _without_errors(load: Callable[[], object]) -> None:
    try:
        load()
    except Exception as error:
        log.debug("not loaded ahead of its use: %s", error)


class Warmable(Protocol):
    """The interface that `keep_warm` needs; Components and the container implement it."""

    def warm(self) -> None: ...

    @property
    def ready(self) -> bool: ...


def keep_warm(parts: Warmable, retry_seconds: float = RETRY_SECONDS) -> None:
    """Load the components, and retry failed ones until all are ready, since an operator may repair them.

    Blocks until then, so servers call it in a thread.
    """
    gc.disable()  # importing the libraries makes millions of objects that stay
    try:
        parts.warm()
    finally:
        gc.enable()
    # Later collections skip them; a collection that visits them halts every thread for a quarter of a second.
    gc.freeze()
    while not parts.ready:
        time.sleep(retry_seconds)
        parts.warm()
