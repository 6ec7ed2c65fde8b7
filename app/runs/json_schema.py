"""JSON and JSON Schema (2020-12) of what Hopcheck writes, both derived from dataclasses and their field docstrings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, cast

from pydantic import AwareDatetime, ConfigDict, Field, PlainSerializer, TypeAdapter, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

EARLIEST, LATEST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
DESCRIBED = ConfigDict(use_attribute_docstrings=True)


def _in_utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


Moment = Annotated[
    AwareDatetime,
    Field(ge=EARLIEST, le=LATEST),
    PlainSerializer(_in_utc),
    WithJsonSchema({"type": "string", "format": "date-time", "description": "Date and time in UTC."}),
]
"""A point in time, written in UTC in ISO format."""


@cache
def _adapter(of: Any) -> TypeAdapter[Any]:
    listed: Any = list  # a dataclass by itself takes no configuration
    return TypeAdapter(listed[of], config=DESCRIBED)


def as_json(value: Any) -> Any:
    """Return a dataclass instance as JSON types."""
    kind: Any = type(value)
    return _adapter(kind).dump_python([value], mode="json")[0]


class _Closed(GenerateJsonSchema):
    """An object has exactly its fields; only those in its class's OPTIONAL may be missing."""

    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().dataclass_schema(schema)
        made.pop("title", None)
        fields = made.setdefault("properties", {})
        for base in filter(is_dataclass, schema["cls"].__mro__[1:]):  # docstrings are read from a class's own source
            for name, text in descriptions(cast(Any, base)).items():
                fields[name].setdefault("description", text)
        optional = getattr(schema["cls"], "OPTIONAL", ())
        return made | {"required": [name for name in fields if name not in optional], "additionalProperties": False}

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("title", None)
        return {"properties": {}, "required": [], **made}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def enum_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().enum_schema(schema)
        made.pop("title", None)
        return made

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])  # a default is for files of earlier versions


@cache
def descriptions(of: Any) -> dict[str, str]:
    """Return the docstrings of a dataclass's fields, by name."""
    made = json_schemas([of], "{model}")[of.__name__]["properties"]
    return {name: schema["description"] for name, schema in made.items() if "description" in schema}


def json_schemas(types: Iterable[Any], ref_template: str) -> dict[str, JsonSchemaValue]:
    """Return the schemas of these dataclasses and models and of their parts by name, with references by `ref_template`.

    Dataclasses are described as written (serialised), models as read (validated).
    """
    modes = ((each, "serialization" if is_dataclass(each) else "validation") for each in types)
    adapters = [(each.__name__, mode, _adapter(each)) for each, mode in modes]
    _, made = TypeAdapter.json_schemas(adapters, ref_template=ref_template, schema_generator=_Closed)  # type: ignore[arg-type]
    return made["$defs"]
