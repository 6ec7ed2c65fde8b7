"""Derive JSON and JSON Schema (2020-12) from dataclasses and their field docstrings."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import is_dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AwareDatetime, BeforeValidator, ConfigDict, Field, PlainSerializer, TypeAdapter, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

MIN_MOMENT, MAX_MOMENT = datetime(2020, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
DESCRIBED = ConfigDict(use_attribute_docstrings=True)


WHOLE = BeforeValidator(lambda sent: int(sent) if type(sent) is float and sent.is_integer() else sent)
"""Reads an integer as JSON Schema has it: 4.0 is one too."""

Moment = Annotated[
    AwareDatetime,
    Field(ge=MIN_MOMENT, le=MAX_MOMENT),
    PlainSerializer(lambda moment: moment.astimezone(UTC).isoformat(), return_type=str),
    WithJsonSchema(
        {
            "type": "string",
            "format": "date-time",
            "pattern": "^(20[2-9]|21[0-9])[0-9]-",
            "description": "Date and time in UTC.",
        }
    ),
]
"""A point in time, written in UTC in ISO format."""


@cache
def _adapter(of: Any) -> TypeAdapter[Any]:
    list_type: Any = list  # pydantic accepts no configuration for a bare dataclass
    return TypeAdapter(list_type[of], config=DESCRIBED)


def as_json(value: Any) -> Any:
    kind: Any = type(value)
    return _adapter(kind).dump_python([value], mode="json")[0]


class _SchemaGenerator(GenerateJsonSchema):
    """Generates schemas. A dataclass's allows no unknown fields, and only those in its OPTIONAL may be missing."""

    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        generated = super().dataclass_schema(schema)
        generated.pop("title", None)
        fields = generated.setdefault("properties", {})
        for name, text in descriptions(schema["cls"]).items():  # pydantic reads no docstrings of inherited fields
            fields[name].setdefault("description", text)
        optional = getattr(schema["cls"], "OPTIONAL", ())
        return generated | {
            "required": [name for name in fields if name not in optional],
            "additionalProperties": False,
        }

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        generated = super().model_schema(schema)
        generated.pop("title", None)
        return {"properties": {}, "required": [], **generated}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def enum_schema(self, schema: Any) -> JsonSchemaValue:
        generated = super().enum_schema(schema)
        generated.pop("title", None)
        return generated

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        # Leaves out `default`: responses always have every field, and null in a request only means "omitted".
        return self.generate_inner(schema["schema"])


@cache
def descriptions(of: type) -> dict[str, str]:
    """Return the docstrings of a dataclass's fields, own and inherited, by name.

    Pydantic would take a hundred times as long, at every start, because it builds a schema.
    """
    found: dict[str, str] = {}
    for each in filter(is_dataclass, reversed(of.__mro__)):
        with suppress(OSError):  # a class without source, of make_dataclass
            definition: Any = ast.parse(inspect.cleandoc(inspect.getsource(each))).body[0]
            for line, after in pairwise(definition.body):
                match line, after:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        found[name] = inspect.cleandoc(text)
    return found


def json_schemas(types: Iterable[Any], ref_template: str) -> dict[str, JsonSchemaValue]:
    """Return the schemas of these dataclasses and models, and of their parts, by name.

    References have the form `ref_template`. Dataclasses are described as serialised, models as validated.
    """
    modes = ((each, "serialization" if is_dataclass(each) else "validation") for each in types)
    adapters = [(each.__name__, mode, _adapter(each)) for each, mode in modes]
    _, generated = TypeAdapter.json_schemas(adapters, ref_template=ref_template, schema_generator=_SchemaGenerator)  # type: ignore[arg-type]
    return generated["$defs"]
