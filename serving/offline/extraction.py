"""Parameters of a tool drawn from a text without a model: matching against the request's schema."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ner.text.tokens import words
from serving.offline.words import covered_words, text_keys, word_keys

_DATE = re.compile(r"\b(\d{4})[-./]\s?(\d{1,2})[-./]\s?(\d{1,2})\b")
_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:[.,]\d+)?(?![\w]|[.,]\d)")
_QUOTED = re.compile(
    r"[\"“”„»«]([^\"“”„»«\n]{2,80})[\"“”„»«]|(?<!\w)['‘]((?:[^\"“”„»«'’\n]|(?<=\w)['’](?=\w)){2,80})['’](?!\w)"
)
"""Single quotation marks only around words: the one in `department's` is an apostrophe."""
_EXPLAINED = r"(?<!\w){value}\"?\s*(?:[=:–(]|->|→)\s*([^,;)\n]+)"

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Reading:
    """The text that parameters are read from, and what was said of the fields."""

    text: str
    hints: str
    """Instructions that may hold example values of fields and explain enum values."""
    language: str
    definitions: Mapping[str, Schema]

    def keys(self) -> frozenset[str]:
        return text_keys(self.text, self.language)

    def names(self, phrase_of_value: str) -> bool:
        """Whether the text holds every word of it in some form."""
        parts = words(phrase_of_value)
        return bool(parts) and len(covered_words(parts, self.keys(), self.language)) == len(parts)


def extract_object(text: str, schema: Schema, hints: str, language: str) -> dict[str, Any] | None:
    """Values for the schema's fields that the text names; None when it names none.

    An enum value is found by its own words or by those that `hints` or the field's description give for
    it (`ADULT = felnőtt`); a free text by quoted examples there; numbers and dates as they stand.
    """
    reading = _Reading(text, hints, language, schema.get("$defs", {}))
    found = _object(schema, reading)
    return found if any(value is not None for value in found.values()) else None


def _object(schema: Schema, reading: _Reading) -> dict[str, Any]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    return {name: _value(name, field, reading, properties) for name, field in properties.items()}


def _value(name: str, field: Schema, reading: _Reading, siblings: Mapping[str, Schema]) -> Any:
    description = str(field.get("description", ""))
    kind = _resolved(field, reading.definitions)
    description = f"{description}\n{kind.get('description', '')}\n{_lines_about(name, reading.hints)}"
    if "enum" in kind:
        values = _enum_values(kind["enum"], description, reading)
        return values[0] if values else None
    match _type(kind):
        case "array":
            return _array(name, kind, description, reading)
        case "object":
            found = _object(kind, reading)
            return found if any(value is not None for value in found.values()) else None
        case "integer" | "number" as type_name:
            return _number(name, type_name, reading, siblings)
        case "boolean":
            return True if reading.names(_spaced(name)) else None
        case "string":
            return _string(kind, description, reading)
    return None


def _array(name: str, kind: Schema, description: str, reading: _Reading) -> list[Any] | None:
    items = _resolved(kind.get("items", {}), reading.definitions)
    if "enum" in items:
        found: list[Any] = _enum_values(items["enum"], description, reading)
    elif _type(items) == "string":
        found = [example for example in _examples(description) if reading.names(example)]
    else:
        single = _value(name, items, reading, {})
        found = [] if single is None else [single]
    return found or None


def _enum_values(values: Sequence[Any], description: str, reading: _Reading) -> list[Any]:
    """Those that the text names, in the order of the enum."""
    found = []
    for value in values:
        if not isinstance(value, str):
            continue
        explained = re.search(_EXPLAINED.format(value=re.escape(value)), description)
        named = reading.names(_spaced(value))
        if not named and explained:
            wanted = [word for word in words(explained[1]) if len(word) > 2]
            named = bool(covered_words(wanted, reading.keys(), reading.language))
        if named:
            found.append(value)
    return found


def _string(kind: Schema, description: str, reading: _Reading) -> str | None:
    if "YYYY-MM-DD" in description or kind.get("format") in ("date", "date-time"):
        date = _DATE.search(reading.text)
        return f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}" if date else None
    named = [example for example in _examples(description) if reading.names(example)]
    if named:
        return max(named, key=len)
    quoted = _QUOTED.search(reading.text)
    return (quoted[1] or quoted[2]).strip() if quoted else None


def _number(
    name: str, type_name: str, reading: _Reading, siblings: Mapping[str, Schema]
) -> int | float | None:
    """The number beside the field's name; or the only number for the only numeric field."""
    matches = [
        match
        for match in _NUMBER.finditer(reading.text)
        if type_name == "number" or match[0].lstrip("-").isdigit()
    ]
    if not matches:
        return None
    name_keys = frozenset(key for word in words(_spaced(name)) for key in word_keys(word, reading.language))
    for match in matches:
        around = words(reading.text[max(0, match.start() - 25) : match.end() + 25])
        if any(not word_keys(word, reading.language).isdisjoint(name_keys) for word in around):
            return _as_number(match[0], type_name)
    numeric = [
        field
        for field in siblings.values()
        if _type(_resolved(field, reading.definitions)) in ("integer", "number")
    ]
    return _as_number(matches[0][0], type_name) if len(matches) == len(numeric) == 1 else None


def _as_number(text: str, type_name: str) -> int | float:
    return int(text) if type_name == "integer" else float(text.replace(",", "."))


def _resolved(field: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The schema behind references and `null` alternatives."""
    while True:
        if "$ref" in field:
            field = definitions.get(str(field["$ref"]).rsplit("/", 1)[-1], {})
            continue
        choices = [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
        if len(choices) != 1:
            return field
        field = choices[0]


def _type(kind: Schema) -> str | None:
    declared = kind.get("type")
    if isinstance(declared, list):
        return next((name for name in declared if name != "null"), None)
    return declared if isinstance(declared, str) else None


def _lines_about(name: str, hints: str) -> str:
    """The lines of the hints from the one that names the field to the next blank or list line."""
    lines = hints.splitlines()
    wanted = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    found: list[str] = []
    for number, line in enumerate(lines):
        if wanted.search(line):
            found.append(line)
            for following in lines[number + 1 :]:
                if not following.strip() or following.lstrip().startswith(("-", "*", "•")):
                    break
                found.append(following)
    return "\n".join(found)


def _examples(description: str) -> list[str]:
    return [(double or single).strip() for double, single in _QUOTED.findall(description)]


def _spaced(name: str) -> str:
    """`adultOrChild`, `adult_or_child` → `adult or child`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name)
