"""What a sensible model would decide, for the misbehaving model server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolkit.testing.model_server import Exchange


def wanted_schema(exchange: Exchange) -> Mapping[str, Any] | None:
    """The JSON schema of a request for a decision; None where a text is asked for."""
    wanted: Mapping[str, Any] = exchange.body.get("response_format", {}).get("json_schema", {})
    return wanted.get("schema")


def fitting(schema: Mapping[str, Any]) -> str:
    """JSON by the schema: everything is needed, everything suffices, nothing is to be added."""

    def value(field: Mapping[str, Any]) -> Any:
        return field["enum"][0] if "enum" in field else [] if field.get("type") == "array" else True

    return json.dumps({name: value(field) for name, field in schema["properties"].items()})
