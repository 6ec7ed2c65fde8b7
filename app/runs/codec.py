"""Events <-> JSON-ready dicts. The reasoning knows nothing of this; `kind` says which event a stored body is."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter

from app.reasoning.events import SCHEMA_VERSION, Event
from app.reasoning.types import RunOptions

_QUIET = ConfigDict(hide_input_in_errors=True)
"""An error goes to the log, and what people wrote does not."""

_events: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")], config=_QUIET)
_options: TypeAdapter[RunOptions] = TypeAdapter(RunOptions)


def encode(event: Event) -> dict[str, Any]:
    """The event as JSON types, its kind included."""
    return _events.dump_python(event, mode="json")


def decode(body: dict[str, Any], version: int) -> Event:
    """The event that `encode` was given, equal to it.

    Raises ValueError for a version that this code does not know and for a body that is no event.
    """
    if version != SCHEMA_VERSION:
        raise ValueError(f"events of schema version {version} cannot be read, only of {SCHEMA_VERSION}")
    return _events.validate_python(body)


def event_schema(ref_template: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what `encode` returns; `$defs` holds its parts, `ref_template` their addresses."""
    return _events.json_schema(mode="serialization", ref_template=ref_template)


def encode_options(options: RunOptions) -> dict[str, Any]:
    """The options as JSON types."""
    return _options.dump_python(options, mode="json")


def decode_options(stored: dict[str, Any]) -> RunOptions:
    """The options that `encode_options` was given. Raises ValueError for what is none."""
    return _options.validate_python(stored)
