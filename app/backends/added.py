"""What the operator adds on the page "Set up": language models, keys of search engines, and GGUF files.

All are in the instance folder and read when they are needed, so that every process with this folder has them at once.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from app.backends.llm.registry import BaseUrl, ModelSettings, Text
from app.backends.local.llama_cpp import HUB_FOLDER
from app.config.settings import Settings, settings_fields
from app.domain.errors import InvalidInput, SettingsError
from app.domain.messages import Words

log = logging.getLogger(__name__)

Key = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,500}$")]
KEY = TypeAdapter(Key)


class AddedModel(BaseModel):
    """One language model and its server, as it is stored."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    model: Text
    name: Text
    base_url: BaseUrl
    api_key: Key | None = None

    def settings(self) -> ModelSettings:
        """Return the model for a client. No variable holds its key."""
        return ModelSettings(self.name, self.model, self.base_url, self.api_key, key_variable=None)


_MODELS = "language-models.json", TypeAdapter(list[AddedModel]), list
_KEYS = "keys.json", TypeAdapter(dict[str, Key]), dict


def added_models(instance: Path) -> tuple[AddedModel, ...]:
    """Return the models that were added, oldest first. Raises SettingsError when their file cannot be read."""
    return tuple(_read(instance, *_MODELS))


def add_model(instance: Path, model: AddedModel) -> None:
    """Store a model with its key. Raises InvalidInput if one of that name was added before."""
    with _changing(instance, *_MODELS) as stored:
        if model.name in (each.name for each in stored):
            raise InvalidInput(
                Words("There is a language model {name} already; choose another name.", name=model.name), "name"
            )
        stored.append(model)


def remove_model(instance: Path, name: str) -> None:
    """Forget the model of that name with its key, if there is one."""
    with _changing(instance, *_MODELS) as stored:
        stored[:] = [each for each in stored if each.name != name]


def added_keys(instance: Path) -> dict[str, str]:
    """Return the keys that were added, by setting. Raises SettingsError when their file cannot be read."""
    found: dict[str, str] = _read(instance, *_KEYS)
    return found


def add_key(instance: Path, setting: str, key: str | None) -> None:
    """Store the key of a service in place of the one before; None forgets it."""
    with _changing(instance, *_KEYS) as stored:
        stored.pop(setting, None)
        stored.update({setting: key} if key else {})


def with_added_keys(settings: Settings) -> Settings:
    """Return the settings with the keys that were added; those that have a value stay as they are."""
    try:
        added = added_keys(settings.instance)
    except SettingsError as error:
        log.error("%s", error)
        return settings
    fields: dict[str, Any] = {settings_fields()[name].name: key for name, key in added.items()}
    return replace(settings, **{name: key for name, key in fields.items() if not getattr(settings, name)})


def discovered_in(instance: Path, taken: Iterable[str] = ()) -> tuple[ModelSettings, ...]:
    """Return the added models and the fetched files, without those whose name is `taken`."""
    files = sorted((instance / HUB_FOLDER).glob("**/*.gguf"))
    fetched = (ModelSettings(each.stem, each.name, "", key_variable=None, gguf=each) for each in files)
    found: dict[str, ModelSettings] = {}
    for each in (*(model.settings() for model in added_models(instance)), *fetched):
        found.setdefault(each.name, each)
    return tuple(each for name, each in found.items() if name not in set(taken))


def _read(instance: Path, name: str, kind: TypeAdapter[Any], empty: Callable[[], Any]) -> Any:
    path = instance / name
    try:
        return kind.validate_json(path.read_bytes())
    except FileNotFoundError:
        return empty()
    except (OSError, ValidationError):
        raise SettingsError(f"{path} cannot be read, or is damaged: remove it and add its contents again") from None


@contextmanager
def _changing(instance: Path, name: str, kind: TypeAdapter[Any], empty: Callable[[], Any]) -> Iterator[Any]:
    """Give what is stored, to be changed in place, and then replace the file by one that only its owner can read."""
    instance.mkdir(parents=True, exist_ok=True)
    with FileLock(instance / f".{name}.lock"):
        yield (stored := _read(instance, name, kind, empty))
        draft = instance / f".{name}.{secrets.token_hex(8)}.partial"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(kind.dump_python(stored), file, ensure_ascii=False)
        draft.replace(instance / name)
