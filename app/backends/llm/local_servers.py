"""Find language model servers on this machine: Ollama, LM Studio, llama.cpp and vLLM at their usual ports.

The list of a server's models is all that is asked for. A model gets its first prompt when somebody has chosen it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from app.backends.llm.registry import ModelSettings, Text

LOOK_SECONDS = 0.3
"""Time limit of one look at all servers; a server on this machine answers within a few milliseconds."""
LOOK_AGAIN_SECONDS = 30.0
MAX_LIST_BYTES = 1_000_000
MAX_MODELS = 50
"""Models of one server that are offered."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """One kind of server and where it usually listens."""

    name: str
    port: int
    paths: tuple[str, ...] = ("/v1/models",)
    """Where it lists its models: the first that answers with a list counts."""


SERVERS = (
    LocalServer("Ollama", 11434, ("/v1/models", "/api/tags")),
    LocalServer("LM Studio", 1234),
    LocalServer("llama.cpp", 8080),
    LocalServer("vLLM", 8000),
)


class LocalServers:
    """The models of the servers that run on this machine now. Thread-safe."""

    def __init__(
        self,
        servers: Sequence[LocalServer] = SERVERS,
        configured: Sequence[ModelSettings] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Look for these servers; `configured` models are not found a second time."""
        self._servers = servers
        self._known = {(each.model, each.host.rpartition(":")[2]) for each in configured if each.destination is None}
        self._clock = clock
        self._models: tuple[ModelSettings, ...] = ()
        self._looked_at: float | None = None
        self._looking = threading.Lock()

    def models(self) -> tuple[ModelSettings, ...]:
        """Return the models found by the last look, and look again in the background if that was a while ago.

        The first call waits for its look, LOOK_SECONDS at most, so that a command finds what runs.
        """
        if self._looked_at is None:
            self.look()
        elif self._is_old() and not self._looking.locked():
            threading.Thread(target=self.look, name="local servers", daemon=True).start()
        return self._models

    def look(self, again: bool = False) -> None:
        """Ask all servers for their models at the same time; if that was just done, only with `again`."""
        with self._looking:
            if not again and not self._is_old():
                return
            found: dict[LocalServer, tuple[ModelSettings, ...]] = {}
            threads = [threading.Thread(target=self._ask, args=(each, found), daemon=True) for each in self._servers]
            until = time.monotonic() + LOOK_SECONDS
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(max(0.0, until - time.monotonic()))
            self._models = tuple(model for each in self._servers for model in found.get(each, ()))
            self._looked_at = self._clock()

    def _is_old(self) -> bool:
        return self._looked_at is None or self._clock() - self._looked_at > LOOK_AGAIN_SECONDS

    def _ask(self, server: LocalServer, found: dict[LocalServer, tuple[ModelSettings, ...]]) -> None:
        models = _models_of(server)
        found[server] = tuple(each for each in models if (each.model, str(server.port)) not in self._known)


class _Listed(BaseModel):
    id: Text = Field(validation_alias=AliasChoices("id", "name"))


class _Models(BaseModel):
    listed: list[Any] = Field(validation_alias=AliasChoices("data", "models"))


def _models_of(server: LocalServer) -> tuple[ModelSettings, ...]:
    """Return the models that the server lists; none where nothing listens, or something else does."""
    for path in server.paths:
        try:
            listed = _Models.model_validate_json(_get(server.port, path)).listed
        except ValidationError:
            continue
        except (OSError, HTTPException):
            return ()
        names = dict.fromkeys(name for each in listed if (name := _name_of(each)))
        return tuple(_settings(server, name) for name in list(names)[:MAX_MODELS])
    return ()


def _get(port: int, path: str) -> bytes:
    """Return what is at `path` on this machine; b"" for another status than 200."""
    connection = HTTPConnection("127.0.0.1", port, timeout=LOOK_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.read(MAX_LIST_BYTES) if response.status == 200 else b""
    finally:
        connection.close()


def _name_of(listed: Any) -> str:
    """Return the name of a listed model; "" for an entry without one, or a model that makes embeddings only."""
    try:
        name = _Listed.model_validate(listed).id
    except ValidationError:
        return ""
    return "" if "embed" in name.casefold() else name


def _settings(server: LocalServer, model: str) -> ModelSettings:
    # llama.cpp's server names a model by the path of its file.
    shown = model.rpartition("/")[2] if model.startswith("/") else model
    return ModelSettings(
        f"{server.name.casefold().replace(' ', '-')}/{shown}",
        model,
        f"http://127.0.0.1:{server.port}/v1",
        key_variable=None,
        found_by=server.name,
    )
