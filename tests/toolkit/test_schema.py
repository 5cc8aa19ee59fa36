from __future__ import annotations

from datetime import date, datetime, timedelta
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, RootModel

from toolkit.errors import SchemaError
from toolkit.schema import strict_json_schema

ALLOWED_KEYWORDS = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "anyOf",
    "$ref",
    "$defs",
    "description",
}


class Age(Enum):
    ADULT = "felnőtt"
    CHILD = "gyermek"


class Place(BaseModel):
    """A place of care."""

    town: str
    floor: int = Field(0, ge=0, le=20, description="0 is the ground floor")


class Clinic(BaseModel):
    name: str = Field("x", min_length=1, max_length=40, pattern=".+", alias="clinicName")
    age: Age = Age.ADULT
    urgency: Literal["sürgős", "ráér"] | None = None
    day: date | None = None
    at: datetime | None = Field(None, description="when it opens")
    length: timedelta | None = None
    place: Place | None = None
    places: list[Place] = []
    pair: tuple[int, str] | None = None
    tags: Annotated[set[str], Field(min_length=1)] = {"a"}
    title: str | int | None = None
    default: bool = False


class Chapter(BaseModel):
    heading: str | None = None
    parts: list[Chapter] = []


class Nothing(BaseModel):
    pass


def nullable(form: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [form, {"type": "null"}]}


def test_r3_2_the_strict_form_of_every_type() -> None:
    place = {"$ref": "#/$defs/Place"}
    text, number = {"type": "string"}, {"type": "integer"}
    properties = {
        "name": nullable(text),
        "age": nullable({"$ref": "#/$defs/Age"}),
        "urgency": nullable({"type": "string", "enum": ["sürgős", "ráér"]}),
        "day": nullable({"type": "string", "description": "YYYY-MM-DD"}),
        "at": {
            "anyOf": [
                {"type": "string", "description": "ISO 8601, YYYY-MM-DDTHH:MM:SS"},
                {"type": "null"},
            ],
            "description": "when it opens",
        },
        "length": nullable({"type": "string", "description": "ISO 8601 duration, for instance P3DT4H"}),
        "place": nullable(place),
        "places": nullable({"type": "array", "items": place}),
        "pair": nullable({"type": "array", "items": {"anyOf": [number, text]}}),
        "tags": nullable({"type": "array", "items": text}),
        "title": {"anyOf": [text, number, {"type": "null"}]},
        "default": nullable({"type": "boolean"}),
    }
    assert strict_json_schema(Clinic) == {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": {
            "Age": {"type": "string", "enum": ["felnőtt", "gyermek"]},
            "Place": {
                "type": "object",
                "description": "A place of care.",
                "properties": {
                    "town": nullable(text),
                    "floor": {**nullable(number), "description": "0 is the ground floor"},
                },
                "required": ["town", "floor"],
                "additionalProperties": False,
            },
        },
    }


def test_r3_2_a_model_may_hold_itself() -> None:
    schema = strict_json_schema(Chapter)
    own = {
        "type": "object",
        "properties": {
            "heading": nullable({"type": "string"}),
            "parts": nullable({"type": "array", "items": {"$ref": "#/$defs/Chapter"}}),
        },
        "required": ["heading", "parts"],
        "additionalProperties": False,
    }
    assert schema == {**own, "$defs": {"Chapter": own}}
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"heading": "I.", "parts": [{"heading": None, "parts": None}]})
    assert not validator.is_valid({"heading": "I.", "parts": [{"heading": None, "parts": [{}]}]})


def test_r3_2_no_other_keyword_occurs_and_fields_named_like_keywords_stay() -> None:
    def keywords(schema: Any) -> set[str]:
        if isinstance(schema, list):
            return set().union(*map(keywords, schema))
        if not isinstance(schema, dict):
            return set()
        found = set(schema)
        for key, value in schema.items():
            found |= (
                set().union(*map(keywords, value.values()))
                if key in {"properties", "$defs"}
                else keywords(value)
            )
        return found

    assert keywords(strict_json_schema(Clinic)) == ALLOWED_KEYWORDS
    assert {"title", "default"} <= strict_json_schema(Clinic)["properties"].keys()


def test_r3_2_a_request_without_fields() -> None:
    assert strict_json_schema(Nothing) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


class FreeKeys(BaseModel):
    place: Place | None = None
    counts: dict[str, int] = {}


class AnyValue(BaseModel):
    nested: list[Any] = []


class Rows(RootModel[list[int]]):
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FreeKeys, r"FreeKeys\.counts .* mapping with free keys"),
        (AnyValue, r"AnyValue\.nested\[\] .* any type"),
        (Rows, "Rows is not an object with fields"),
    ],
)
def test_r3_2_what_has_no_strict_form_is_told(model: type[BaseModel], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        strict_json_schema(model)
