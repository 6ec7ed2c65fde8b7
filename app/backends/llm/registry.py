"""The language models that an operator has set up: who serves each, with which key, at which price.

One comes from OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL, any number from a TOML file (MODELS_FILE):

    [[model]]
    name = "Small"                        # what people choose
    model = "gpt-4o-mini"                 # what the server calls it
    base_url = "https://api.openai.com/v1"
    api_key_env = "OPENAI_API_KEY"        # the environment variable that holds the key
    prompt_price = 0.15                   # per million tokens
    completion_price = 0.60
    thinking_tokens = 4000                # room for thoughts beside the answer
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from app.backends.http import destination_of, host_of
from app.domain.errors import SettingsError

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
UNNAMED = "unnamed"
"""The model that is shown, and cannot be chosen, where a key or a server is set and no model."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One language model and who serves it.

    `name` is what people choose, `model` what the server calls it. Prices are per million tokens, both or neither.
    `thinking_tokens` is the room that is left for thoughts before an answer; None finds out whether the model thinks.
    `key_variable` is where the key is from, for messages; None where no key is sent.
    """

    name: str
    model: str
    base_url: str = OPENAI_URL
    api_key: str | None = field(default=None, repr=False)
    prompt_price: float | None = None
    completion_price: float | None = None
    thinking_tokens: int | None = None
    key_variable: str | None = KEY_VARIABLE

    @property
    def host(self) -> str:
        """Where the server listens, as messages name it: a host name, with the port where it is in the address."""
        return host_of(self.base_url)

    @property
    def destination(self) -> str | None:
        """The host name that gets what people write; None when it is this machine."""
        return destination_of(self.base_url)


def availability(model: ModelSettings) -> str:
    """Why a model cannot be used, in a sentence that names the setting; "" when nothing is known against it.

    No server is asked: a wrong key or name shows at the first call.
    """
    if not model.model:
        return "A language model's server is set, but no model: name one in OPENAI_MODEL."
    if not model.api_key and (
        model.base_url.rstrip("/") == OPENAI_URL or model.key_variable not in (None, KEY_VARIABLE)
    ):
        return f"Its key is missing: set {model.key_variable or KEY_VARIABLE}."
    if model.api_key and not (model.api_key.isascii() and model.api_key.isprintable() and " " not in model.api_key):
        return f"Its key holds characters that no key has: look at {model.key_variable}."
    return ""


def configured(
    api_key: str | None,
    base_url: str | None,
    model: str | None,
    models_file: Path | None,
    secrets: Mapping[str, str] | None = None,
) -> tuple[ModelSettings, ...]:
    """Every model that is set up, the default first: that of OPENAI_MODEL, then those of the file in its order.

    `secrets` holds the keys by the names that the file's `api_key_env` gives. Raises SettingsError, naming the file
    and the entry, for a file that cannot be read or used.
    """
    listed = _read(models_file, secrets or {}) if models_file else ()
    if model or ((api_key or base_url) and not listed):
        single = ModelSettings(model or UNNAMED, model or "", base_url or OPENAI_URL, api_key)
        listed = (single, *listed)
    names = [each.name for each in listed]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SettingsError(f"{models_file}: two language models are called {twice!r}; give each its own name.")
    return listed


Text = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")
]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Entry(BaseModel):
    """One [[model]] of the file."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    name: Text
    model: Text
    base_url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s@/]+(/[^\s@]*)?$")] = OPENAI_URL
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    prompt_price: Price | None = None
    completion_price: Price | None = None
    thinking_tokens: Annotated[int, Field(ge=0, le=1_000_000)] | None = None

    @model_validator(mode="after")
    def _both_prices(self) -> _Entry:
        if (self.prompt_price is None) != (self.completion_price is None):
            raise ValueError("prompt_price and completion_price belong together")
        return self

    def settings(self, secrets: Mapping[str, str]) -> ModelSettings:
        """The entry with its key. OpenAI's key goes to OpenAI's server only, unless the entry asks for it by name."""
        variable = self.api_key_env or (KEY_VARIABLE if self.base_url.rstrip("/") == OPENAI_URL else None)
        return ModelSettings(
            self.name,
            self.model,
            self.base_url,
            secrets.get(variable) if variable else None,
            self.prompt_price,
            self.completion_price,
            self.thinking_tokens,
            variable,
        )


_MEANT = {
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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"MODELS_FILE: {path} is not TOML: {_first_line(error)}") from None
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
        what = _MEANT.get(where) if first["type"] == "string_pattern_mismatch" else None
        raise SettingsError(f"MODELS_FILE: {path}, model {number}: {where}: {what or first['msg']}.") from None


def _first_line(error: Exception) -> str:
    """Where the file breaks off, without what it holds there."""
    return "it is not UTF-8." if isinstance(error, UnicodeDecodeError) else f"{error}."
