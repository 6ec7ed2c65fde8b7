"""Language models: the server, key and price of each configured one, and those of servers found on this machine.

At most one is configured with OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL, at most one with LOCAL_MODEL, a GGUF
file that this process runs, and any number in a TOML file (MODELS_FILE):

    [[model]]
    name = "Small"                        # what people choose
    model = "gpt-4o-mini"                 # what the server calls it
    base_url = "https://api.openai.com/v1"
    api_key_env = "OPENAI_API_KEY"        # the environment variable that holds the key
    prompt_price = 0.15                   # per million tokens
    completion_price = 0.60
    thinking_tokens = 4000                # tokens for reasoning, added to those for the answer
    headers = { api-key = "{key}" }       # more headers; with {key} in one, no other header has the key
    query = { api-version = "2024-10-21" }
    extra = { reasoning_effort = "low" }  # more fields of each request
    api = "responses"                     # for a server with OpenAI's Responses API only

Found are Ollama, LM Studio, llama.cpp and vLLM at their usual ports. The list of a server's models is all that is asked
for; a model gets its first prompt when somebody has chosen it.
"""

from __future__ import annotations

import json
import threading
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, OnErrorOmit, StringConstraints, ValidationError, model_validator

from app.backends.http import destination_of, host_of
from app.backends.local.llama_cpp import why_no_gguf
from app.domain.errors import SettingsError

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
CHAT, RESPONSES = "chat", "responses"
UNNAMED = "unnamed"
"""Name shown, but not selectable, where a key or a server is set without a model."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One language model and its server."""

    name: str
    """The name that users choose."""
    model: str
    """The server's name for the model."""
    base_url: str = OPENAI_URL
    api_key: str | None = field(default=None, repr=False)
    prompt_price: float | None = None
    """Per million tokens; both prices are set or neither."""
    completion_price: float | None = None
    thinking_tokens: int | None = None
    """Token allowance for reasoning before an answer; None: only for models detected as reasoning models."""
    key_variable: str | None = KEY_VARIABLE
    """The variable that holds the key, for messages; None where no key is sent."""
    gguf: Path | None = None
    """The file of a model that runs in this process, without a server."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of each request in addition; "{key}" in a value stands for the key."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of each request's body in addition."""
    api: str = CHAT
    """CHAT or RESPONSES: the one of OpenAI's two APIs that the server has."""
    found_by: str = ""
    """The kind of server on which the model was found; "" for a configured model."""

    @property
    def host(self) -> str:
        """Return the server's host for messages, with the port where the address has one."""
        return "localhost" if self.gguf else host_of(self.base_url)

    @property
    def destination(self) -> str | None:
        """Return the host that receives users' text; None for this machine."""
        return None if self.gguf else destination_of(self.base_url)


def unavailable_reason(model: ModelSettings) -> str:
    """Return a sentence that names the setting or the GGUF file to correct; "" when the settings look right.

    Contacts no server: a wrong key or name fails at the first call.
    """
    if model.gguf:
        return why_no_gguf(model.gguf)
    if not model.model:
        return "A language model's key or server is set, but no model: name one in OPENAI_MODEL."
    # OpenAI needs a key, and so does an entry that names a variable of its own; other servers may need none.
    if not model.api_key and (
        model.base_url.rstrip("/") == OPENAI_URL or model.key_variable not in (None, KEY_VARIABLE)
    ):
        return f"Its key is missing: set {model.key_variable or KEY_VARIABLE}."
    if model.api_key and not (model.api_key.isascii() and model.api_key.isprintable() and " " not in model.api_key):
        return f"Its key holds characters that no key has: look at {model.key_variable}."
    return ""


def configured_models(
    api_key: str | None,
    base_url: str | None,
    model: str | None,
    models_file: Path | None,
    secrets: Mapping[str, str] | None = None,
    local_model: Path | None = None,
) -> tuple[ModelSettings, ...]:
    """Return every configured model, the default first: OPENAI_MODEL's, the file's in its order, then LOCAL_MODEL's.

    `secrets` maps the names in the file's `api_key_env` to keys. Raises SettingsError, naming the file and the entry,
    for an invalid file.
    """
    listed = _read(models_file, secrets or {}) if models_file else ()
    if local_model:
        listed = (*listed, ModelSettings(local_model.stem, local_model.name, "", key_variable=None, gguf=local_model))
    if model or ((api_key or base_url) and not listed):
        single = ModelSettings(model or UNNAMED, model or "", base_url or OPENAI_URL, api_key)
        listed = (single, *listed)
    names = [each.name for each in listed]
    if twice := next((name for name in names if names.count(name) > 1), None):
        where = f"OPENAI_MODEL, {models_file or 'MODELS_FILE'} and LOCAL_MODEL"
        raise SettingsError(f"Two language models of {where} are called {twice!r}; give each its own name.")
    return listed


Text = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
]
BaseUrl = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^https?://[^\s@/]+(/[^\s@]*)?$")]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,100}$")]
HeaderValue = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[!-~]([ -~]*[!-~])?$")]
RESERVED = frozenset({"model", "messages", "input", "stream", "n"})
"""Fields of a request that `extra` cannot replace."""


class _Entry(BaseModel):
    """One [[model]] of the file."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    name: Text
    model: Text
    base_url: BaseUrl = OPENAI_URL
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    prompt_price: Price | None = None
    completion_price: Price | None = None
    thinking_tokens: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    headers: dict[HeaderName, HeaderValue] = {}
    query: dict[str, str] = {}
    extra: dict[str, Any] = {}
    api: Literal["chat", "responses"] = "chat"

    @model_validator(mode="after")
    def _no_reserved_fields(self) -> _Entry:
        if reserved := RESERVED & set(self.extra):
            raise ValueError(f"extra cannot replace {', '.join(sorted(reserved))}")
        try:
            json.dumps(self.extra)
        except TypeError:  # TOML has dates
            raise ValueError("extra must hold what JSON can hold") from None
        return self

    @model_validator(mode="after")
    def _both_prices(self) -> _Entry:
        if (self.prompt_price is None) != (self.completion_price is None):
            raise ValueError("prompt_price and completion_price belong together")
        return self

    def settings(self, secrets: Mapping[str, str]) -> ModelSettings:
        """Return the settings with the key. OPENAI_API_KEY goes to OpenAI's server only, unless the entry names it."""
        variable = self.api_key_env or (KEY_VARIABLE if self.base_url.rstrip("/") == OPENAI_URL else None)
        query = ("&" if "?" in self.base_url else "?") + urlencode(self.query) if self.query else ""
        key = secrets.get(variable) if variable else None
        same = self.model_dump(exclude={"base_url", "api_key_env", "query"})
        return ModelSettings(**same, base_url=self.base_url + query, api_key=key, key_variable=variable)


# Explanations for values that do not match their field's pattern.
_EXPECTED = {
    "base_url": "it must be a URL like http://127.0.0.1:8080/v1, without a password in it",
    "api_key_env": "it must be the name of an environment variable, not the key itself",
    "name": "it must be one line of text",
    "model": "it must be one line of text",
}


def _read(path: Path, secrets: Mapping[str, str]) -> tuple[ModelSettings, ...]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"MODELS_FILE: {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise SettingsError(f"MODELS_FILE: {path} is not TOML: it is not UTF-8.") from None
    except tomllib.TOMLDecodeError as error:  # its message quotes names from the file, but no values, such as keys
        raise SettingsError(f"MODELS_FILE: {path} is not TOML: {error}.") from None
    entries = document.get("model")
    if set(document) != {"model"} or not isinstance(entries, list):
        raise SettingsError(f"MODELS_FILE: {path} must hold [[model]] entries, and nothing else.")
    return tuple(_entry(path, number, raw).settings(secrets) for number, raw in enumerate(entries, start=1))


def _entry(path: Path, number: int, raw: Any) -> _Entry:
    try:
        return _Entry.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the entry"
        what = _EXPECTED.get(where) if first["type"] == "string_pattern_mismatch" else None
        raise SettingsError(f"MODELS_FILE: {path}, model {number}: {where}: {what or first['msg']}.") from None


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


SERVERS = (
    LocalServer("Ollama", 11434),
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
        self._known = {_model_and_port(each) for each in configured if each.destination is None}
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
        found[server] = tuple(each for each in _models_of(server) if _model_and_port(each) not in self._known)


def _model_and_port(model: ModelSettings) -> tuple[str, str]:
    """Return what two models on this machine have in common if they are the same one."""
    return model.model.removesuffix(":latest"), model.host.rpartition(":")[2]


class _Listed(BaseModel):
    id: Text


class _Models(BaseModel):
    data: list[OnErrorOmit[_Listed]]


def _models_of(server: LocalServer) -> tuple[ModelSettings, ...]:
    """Return the models that the server lists, but those for embeddings; none where no such server listens."""
    try:
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=LOOK_SECONDS)) as connection:
            connection.request("GET", "/v1/models")
            response = connection.getresponse()
            listed = _Models.model_validate_json(response.read(MAX_LIST_BYTES) if response.status == 200 else b"").data
    except (ValidationError, OSError, HTTPException):
        return ()
    names = dict.fromkeys(each.id for each in listed if "embed" not in each.id.casefold())
    return tuple(_settings(server, name) for name in list(names)[:MAX_MODELS])


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
