"""Parameters of a tool, as a program sends them, made into its request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from toolkit.errors import ToolParametersError, shown
from toolkit.kinds import AsyncTaskTool

_SHOWN_ERRORS = 5


def task_request(tool: AsyncTaskTool[Any], parameters: Mapping[str, Any]) -> BaseModel:
    """The request of a task. Raises ToolParametersError."""
    return sent_request(tool.request_class, parameters, f"task {tool.task_type!r}")


def sent_request(request_class: type[BaseModel], parameters: Mapping[str, Any], of: str) -> BaseModel:
    """The request for parameters by field name or alias; `of` tells whose they are.

    Other than with a model's parameters nothing is put right: unknown fields and nulls for fields that take none are
    errors. Raises ToolParametersError, which names what is wrong and the fields there are.
    """
    fields = _fields(request_class)
    unknown = [] if request_class.model_config.get("extra") == "allow" else sorted(set(parameters) - fields)
    if unknown:
        raise _refusal(request_class, of, [f"{shown(name)}: there is no such field" for name in unknown])
    try:
        return request_class.model_validate_json(json.dumps(parameters), by_alias=True, by_name=True)
    except ValidationError as error:
        raise _refusal(
            request_class, of, [_sentence(each) for each in error.errors(include_url=False)]
        ) from error


def _fields(request_class: type[BaseModel]) -> set[str]:
    """Names and aliases, at the top."""
    names: set[str] = set()
    for name, field in request_class.model_fields.items():
        names.add(name)
        names |= {each for each in (field.alias, field.validation_alias) if isinstance(each, str)}
    return names


def _sentence(problem: Any) -> str:
    place = ".".join(map(str, problem["loc"]))
    wrong = (
        problem["msg"] if problem["type"] == "missing" else f"{problem['msg']}, not {shown(problem['input'])}"
    )
    return f"{place}: {wrong}" if place else wrong


def _refusal(request_class: type[BaseModel], of: str, problems: list[str]) -> ToolParametersError:
    more = len(problems) - _SHOWN_ERRORS
    text = "; ".join(problems[:_SHOWN_ERRORS]) + (f"; and {more} more" if more > 0 else "")
    fields = ", ".join(request_class.model_fields) or "none"
    return ToolParametersError(f"the parameters do not fit {of} ({text}); its fields are: {fields}")
