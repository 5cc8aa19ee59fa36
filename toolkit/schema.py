"""JSON schemas of request models in the strict form that constrained decoding takes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


def strict_json_schema(model: type[BaseModel]) -> dict[str, Any]:
    raise NotImplementedError("written next")
