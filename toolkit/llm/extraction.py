"""Getting the wanted JSON object out of what a model wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from jsonschema import Draft202012Validator

from toolkit.errors import LlmOutputError, shown
from toolkit.llm.surrogates import whole_characters

T = TypeVar("T")

_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)```", re.DOTALL)
_START = re.compile(r"[{\[]")
_BROKEN = re.compile(r"\{\s*\"|\[\s*[\[{\"]")
"""Looks like JSON: where that does not parse, what stands inside it is not the wanted object but a part of it."""
_MOST_STARTS = 100
"""Places within a text at which an object is looked for."""


def extracted(
    text: str, schema: Mapping[str, Any], accept: Callable[[dict[str, Any]], T], name: str = ""
) -> T:
    """What `accept` makes of the first object in the text that it takes.

    The object may stand in a fence or within prose, alone in a list, or under the key `name`; a value by
    itself is taken for the only property of the schema. `accept` refuses by ValueError.

    Raises LlmOutputError that says what is wrong with the first object found, or that there is none.
    """
    fault: str | None = None
    for value in _json_values(text):
        for candidate in _objects(value, schema, name):
            try:
                return accept(candidate)
            except ValueError as error:
                fault = fault or str(error)
    raise LlmOutputError(
        fault or f"there is no JSON object in the answer: {shown(text) or 'it is empty'}", text
    )


def is_null(text: str) -> bool:
    """Whether the answer is JSON's null and nothing else."""
    return next(_json_values(text), "") is None


def validated_json(value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The object, valid by the schema: keys that it forbids are dropped, nullable ones that are missing are null.

    Raises ValueError with the first places that are wrong.
    """
    fitted: dict[str, Any] = _fitted(value, schema, schema.get("$defs", {}))
    errors = sorted(
        Draft202012Validator(dict(schema)).iter_errors(fitted), key=lambda each: list(map(str, each.path))
    )
    if errors:
        places = [f"{each.json_path}: {shown(each.message)}" for each in errors[:5]]
        raise ValueError("; ".join(places))
    return fitted


def _json_values(text: str) -> Iterator[Any]:
    """All values that may be the wanted one: the whole, what stands in fences, objects and lists in prose."""
    text = whole_characters(text).strip().lstrip("\ufeff")
    for piece in (text, *_FENCE.findall(text)):
        try:
            yield _decoder.decode(piece.strip())
        except (ValueError, RecursionError):
            continue
    position = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(text, position)
        if start is None:
            return
        try:
            value, position = _decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            if _BROKEN.match(text, start.start()):
                return
            position = start.end()
            continue
        if value:
            yield value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


def _objects(value: Any, schema: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    properties = schema.get("properties", {})
    if isinstance(value, dict):
        inner = value.get(name)
        if name and name not in properties and isinstance(inner, dict):
            yield inner
        elif not value or not properties or value.keys() & properties.keys():
            yield value
    else:
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            yield from _objects(value[0], schema, name)
        if len(properties) == 1:
            yield {next(iter(properties)): value}


def _fitted(value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    schema = _resolved(schema, definitions)
    if "anyOf" in schema:
        branches = [_resolved(each, definitions) for each in schema["anyOf"]]
        kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
        fitting = [each for each in branches if each.get("type") == kind]
        if not fitting:
            return value
        return _fitted(value, max(fitting, key=lambda each: _shared_keys(value, each)), definitions)
    if isinstance(value, list) and "items" in schema:
        return [_fitted(each, schema["items"], definitions) for each in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    properties: Mapping[str, Any] = schema["properties"]
    closed = schema.get("additionalProperties") is False
    fitted = {
        key: _fitted(each, properties[key], definitions) if key in properties else each
        for key, each in value.items()
        if key in properties or not closed
    }
    missing = [key for key in schema.get("required", ()) if key not in fitted]
    nulls = {key: None for key in missing if _takes_null(properties.get(key, {}), definitions)}
    return {**fitted, **nulls}


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
    return schema


def _shared_keys(value: Any, schema: Mapping[str, Any]) -> int:
    return len(value.keys() & schema.get("properties", {}).keys()) if isinstance(value, dict) else 0


def _takes_null(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    return Draft202012Validator({**schema, "$defs": dict(definitions)}).is_valid(None)
