"""JSON schemas of request models in the strict form that constrained decoding takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

from toolkit.errors import SchemaError

Schema = dict[str, Any]

_FORMATS = {
    "date": "YYYY-MM-DD",
    "time": "HH:MM:SS",
    "date-time": "ISO 8601, YYYY-MM-DDTHH:MM:SS",
    "duration": "ISO 8601 duration, for instance P3DT4H",
}
"""What the description says instead of a `format`, which not every server takes."""


def strict_json_schema(model: type[BaseModel]) -> Schema:
    """The JSON schema of a request class, by field names as written.

    Every field of every object is required and nullable, and nothing else is allowed in it. Only these
    keywords occur: type, properties, required, additionalProperties, items, enum, anyOf, $ref, $defs,
    description. What others would demand (lengths, patterns, defaults) is left to validation.

    Raises SchemaError for a field that has no such form: a mapping with free keys, or a value of any type.
    """
    try:
        schema = model.model_json_schema(by_alias=False)
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise SchemaError(f"request class {model.__name__} has no JSON schema: {error}") from error
    definitions: Schema = schema.pop("$defs", {})
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    strict = _Strict(model.__name__)
    root = strict.converted(schema, model.__name__)
    if root.get("type") != "object":
        raise SchemaError(
            f"request class {model.__name__} is not an object with fields; give it named fields"
        )
    if definitions:
        root["$defs"] = {name: strict.converted(each, name) for name, each in definitions.items()}
    return root


class _Strict:
    """Rewrites one schema; knows the class for its messages."""

    def __init__(self, class_name: str) -> None:
        self._class_name = class_name

    def converted(self, schema: Mapping[str, Any], path: str) -> Schema:
        result = self._form(schema, path)
        description = None if "$ref" in result else _described(schema)
        return {**result, "description": description} if description else result

    def _form(self, schema: Mapping[str, Any], path: str) -> Schema:
        if "$ref" in schema:
            return {"$ref": schema["$ref"]}
        if "const" in schema:
            return _enumerated([schema["const"]], schema)
        if "enum" in schema:
            return _enumerated(schema["enum"], schema)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                return self._choice(keyword, schema[keyword], path)
        forms: dict[str, Callable[[Mapping[str, Any], str], Schema]] = {
            "object": self._object,
            "array": self._array,
        }
        kind = schema.get("type")
        if kind in forms:
            return forms[kind](schema, path)
        if not isinstance(kind, str):
            raise self._error(path, "may hold a value of any type")
        return {"type": kind}

    def _choice(self, keyword: str, branches: list[Mapping[str, Any]], path: str) -> Schema:
        if keyword == "allOf" and len(branches) > 1:
            raise self._error(path, "must fit several schemas at once")
        return _any_of([self.converted(branch, path) for branch in branches])

    def _object(self, schema: Mapping[str, Any], path: str) -> Schema:
        if "properties" not in schema and schema.get("additionalProperties", True) is not False:
            raise self._error(path, "is a mapping with free keys")
        properties = {
            name: self._nullable(field, f"{path}.{name}")
            for name, field in schema.get("properties", {}).items()
        }
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _array(self, schema: Mapping[str, Any], path: str) -> Schema:
        items = [*schema.get("prefixItems", ())]
        if schema.get("items"):
            items.append(schema["items"])
        if not items:
            raise self._error(f"{path}[]", "may hold a value of any type")
        return {"type": "array", "items": _any_of([self.converted(each, f"{path}[]") for each in items])}

    def _nullable(self, field: Mapping[str, Any], path: str) -> Schema:
        result = _any_of([self._form(field, path), {"type": "null"}])
        description = _described(field)
        return {**result, "description": description} if description else result

    def _error(self, path: str, what: str) -> SchemaError:
        return SchemaError(
            f"{path} in request class {self._class_name} {what}, which constrained decoding does not take; "
            "use named fields, a list of a nested model, or an enum"
        )


def _any_of(branches: list[Schema]) -> Schema:
    flat: list[Schema] = []
    for branch in branches:
        for each in branch["anyOf"] if branch.keys() == {"anyOf"} else [branch]:
            if each not in flat:
                flat.append(each)
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def _enumerated(values: list[Any], schema: Mapping[str, Any]) -> Schema:
    kind = schema.get("type")
    return {"type": kind, "enum": values} if isinstance(kind, str) else {"enum": values}


def _described(schema: Mapping[str, Any]) -> str | None:
    parts = (schema.get("description"), _FORMATS.get(schema.get("format", "")))
    return " — ".join(part for part in parts if part) or None
