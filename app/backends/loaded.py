"""A model that is loaded when it is first asked for, once, in the inference queue."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from app.backends.inference import Inference
from app.domain.errors import ModelUnavailable
from app.domain.progress import entered

T = TypeVar("T")

MEND = "make install"

_importing = threading.Lock()
"""One thread imports at a time: two that want transformers at once may get it half made."""


class Loaded(Generic[T]):
    """A model that is loaded at its first use, once, in the queue. A load that failed is tried anew at the next use."""

    def __init__(
        self, inference: Inference, read: Callable[[], T], name: str = "", libraries: Sequence[str] = ()
    ) -> None:
        """`read` gives the model, never None; it raises ModelUnavailable. A model with a `name` is said to load.

        `libraries` are modules that `read` will import: the caller imports them before the model's turn comes, so
        that the queue computes meanwhile.
        """
        self._inference, self._read, self._name, self._libraries = inference, read, name, libraries
        self._model: T | None = None

    def __call__(self) -> T:
        """The model. Raises what `read` raises, and ModelUnavailable when a library is missing."""
        if self._model is not None:
            return self._model
        if self._name:
            entered(f"loading {self._name}")
        for library in self._libraries:
            _import(library)
        return self._inference.load(self._once)

    def _once(self) -> T:
        if self._model is None:
            self._model = self._read()
        return self._model


def _import(library: str) -> None:
    with _importing:
        try:
            importlib.import_module(library)
        except ImportError as error:
            raise ModelUnavailable(f"The library {library} cannot be imported ({error})", MEND) from error
