"""The language models that the operator adds on the page "Set up", and the GGUF files that were fetched.

Both are in the instance folder and read when they are needed, so that every process with this folder has them at once.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from app.backends.llm.registry import BaseUrl, ModelSettings, Text
from app.backends.local.llama_cpp import HUB_FOLDER
from app.domain.errors import InvalidInput, SettingsError

Key = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,500}$")]


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


_STORED = TypeAdapter(list[AddedModel])


def added_models(instance: Path) -> tuple[AddedModel, ...]:
    """Return the models that were added, oldest first. Raises SettingsError when their file cannot be read."""
    path = _path(instance)
    try:
        return tuple(_STORED.validate_json(path.read_bytes()))
    except FileNotFoundError:
        return ()
    except (OSError, ValidationError):
        raise SettingsError(
            f"{path} cannot be read, or holds no language models: remove it and add them again"
        ) from None


def add_model(instance: Path, model: AddedModel) -> None:
    """Store a model with its key. Raises InvalidInput if one of that name was added before."""
    with _locked(instance):
        stored = added_models(instance)
        if model.name in (each.name for each in stored):
            raise InvalidInput(f"There is a language model {model.name} already; choose another name.", "name")
        _write(instance, (*stored, model))


def remove_model(instance: Path, name: str) -> None:
    """Forget the model of that name with its key, if there is one."""
    with _locked(instance):
        _write(instance, (each for each in added_models(instance) if each.name != name))


def discovered_in(instance: Path, taken: Iterable[str] = ()) -> tuple[ModelSettings, ...]:
    """Return the added models and the fetched files, without those whose name is `taken`."""
    files = sorted((instance / HUB_FOLDER).glob("**/*.gguf"))
    fetched = (ModelSettings(each.stem, each.name, "", key_variable=None, gguf=each) for each in files)
    found: dict[str, ModelSettings] = {}
    for each in (*(model.settings() for model in added_models(instance)), *fetched):
        found.setdefault(each.name, each)
    return tuple(each for name, each in found.items() if name not in set(taken))


def _path(instance: Path) -> Path:
    return instance / "language-models.json"


def _locked(instance: Path) -> FileLock:
    instance.mkdir(parents=True, exist_ok=True)
    return FileLock(instance / ".language-models.lock")


def _write(instance: Path, models: Iterable[AddedModel]) -> None:
    """Replace the file by one that only its owner can read."""
    path = _path(instance)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump([each.model_dump() for each in models], file, ensure_ascii=False)
    draft.replace(path)
