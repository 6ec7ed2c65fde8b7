"""What JSON Schemas (2020-12) are put together from."""

from __future__ import annotations

from typing import Any

from app.domain.model import Label

Schema = dict[str, Any]

REF = "#/components/schemas/{model}"


def ref(name: str) -> Schema:
    """A reference to a schema of the document."""
    return {"$ref": REF.format(model=name)}


def text(description: str = "", **more: Any) -> Schema:
    """A string."""
    return {"type": "string", **({"description": description} if description else {}), **more}


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else {"anyOf": [schema, {"type": "null"}]}


def listed(items: Schema, description: str = "") -> Schema:
    """An array."""
    return {"type": "array", "items": items, **({"description": description} if description else {})}


def whole(fields: dict[str, Schema], description: str = "") -> Schema:
    """An object with all of these fields and no other."""
    return sent(fields, tuple(fields), description)


def sent(fields: dict[str, Schema], required: tuple[str, ...], description: str = "") -> Schema:
    """An object with these fields and no other, of which only the `required` ones must be there."""
    told = {"description": description} if description else {}
    return {
        "type": "object",
        **told,
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }


TRUTH = {"type": "boolean"}
COUNT = {"type": "integer", "minimum": 0}
SECONDS = {"type": "number", "minimum": 0}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
MOMENT = text("Date and time in UTC.", format="date-time")
DAY = text("A day, like 2020-10-31.")
LABEL = text("The class of a verdict.", enum=list(Label))
STATE = text(enum=["running", "verdict", "failed", "interrupted"])
