"""Prompts as data: one template per file, with its demonstrations as JSON beside it."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Any


@lru_cache
def template(name: str) -> Template:
    """Return the template `name`.txt of this folder, with $names to fill in."""
    return Template((files(__name__) / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n"))


@lru_cache
def data(name: str) -> Any:
    """Return the content of `name`.json of this folder. All callers share it: do not modify it."""
    return json.loads((files(__name__) / f"{name}.json").read_text(encoding="utf-8"))
