"""Events <-> JSON-ready dicts. The reasoning knows nothing of this; `kind` says which event a stored body is."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from app.reasoning.events import SCHEMA_VERSION, Event
from app.reasoning.types import RunOptions

_STRICT = ConfigDict(hide_input_in_errors=True, extra="forbid")
"""An error goes to the log, and what people wrote does not. A field that this version does not know is never dropped:
a newer version wrote it, and meant something by it."""

_AnyEvent = Annotated[Event, Field(discriminator="kind")]
_events: TypeAdapter[Event] = TypeAdapter(_AnyEvent, config=_STRICT)
_options: TypeAdapter[list[RunOptions]] = TypeAdapter(list[RunOptions], config=_STRICT)
"""In a list, for pydantic takes no configuration for a dataclass that stands alone."""


def encode(event: Event) -> dict[str, Any]:
    """The event as JSON types, its kind included."""
    return _events.dump_python(event, mode="json")


def decode(body: dict[str, Any], version: int) -> Event:
    """The event that `encode` was given, equal to it.

    Raises ValueError for a version, a kind or a field that this code does not know, and for a body that is no event.
    """
    if version != SCHEMA_VERSION:
        raise ValueError(f"events of schema version {version} cannot be read, only of {SCHEMA_VERSION}")
    try:
        return _events.validate_python(body)
    except ValidationError as error:
        raise ValueError(f"a stored event cannot be read: {_first(error)}") from None


def event_schema(ref_template: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what `encode` returns; `$defs` holds its parts, `ref_template` their addresses.

    It leaves room for fields of later versions: who reads events elsewhere may pass them over.
    """
    return TypeAdapter(_AnyEvent).json_schema(mode="serialization", ref_template=ref_template)


def encode_options(options: RunOptions) -> dict[str, Any]:
    """The options as JSON types."""
    return _options.dump_python([options], mode="json")[0]


def decode_options(stored: dict[str, Any]) -> RunOptions:
    """The options that `encode_options` was given. Raises ValueError for what is none, and for one it does not know."""
    try:
        return _options.validate_python([stored])[0]
    except ValidationError as error:
        raise ValueError(f"stored options cannot be read: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    """Where the first mistake is and of what kind, without a word of what stands there."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{first['type'].replace('_', ' ')} at {'.'.join(map(str, first['loc'])) or 'its kind'}"
