"""A model's raw parameters made into a request object."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from toolkit.errors import ToolParametersError, shown

Model = TypeVar("Model", bound=BaseModel)

_SHOWN_ERRORS = 5


class MissingValueError(ToolParametersError):
    """All that is wrong: null stands in fields that have no default and do not take it."""


def validated_parameters(request_class: type[Model], raw: Mapping[str, Any]) -> Model:
    """The request for parameters by field name, in plain values.

    A null for a field that takes none gives the field's default, also in nested models; keys that the class
    forbids are left out. `raw` itself is unchanged.

    Raises MissingValueError when nothing is wrong but nulls (or missing keys) in mandatory fields, which
    is how a model says that the question does not tell; else ToolParametersError, with the faulty fields.
    """
    data: Any = copy.deepcopy(dict(raw))
    while True:
        try:
            return request_class.model_validate(data, by_alias=False, by_name=True)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            dropped = [_left_out(data, problem) for problem in problems]
            if not any(dropped):
                raise _refusal(request_class, problems) from error


def plain_parameters(request: BaseModel) -> dict[str, Any]:
    """A request as plain values by field name, as JSON holds them: dates and enums as strings."""
    return request.model_dump(mode="json", by_alias=False)


def _left_out(data: Any, problem: ErrorDetails) -> bool:
    """Drop the null or the forbidden key that a problem is about; False when it is about something else."""
    parent, key = _place(data, problem["loc"])
    if not isinstance(parent, dict) or key not in parent:
        return False
    if parent[key] is not None and problem["type"] != "extra_forbidden":
        return False
    del parent[key]
    return True


def _place(data: Any, location: Sequence[int | str]) -> tuple[Any, int | str | None]:
    """The container and key that a location means; names of union members within it are passed over."""
    parent, key, value = None, None, data
    for step in location:
        if isinstance(value, dict):
            known = step in value
        else:
            known = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if known:
            parent, key, value = value, step, value[step]
    return parent, key


def _refusal(request_class: type[BaseModel], problems: Sequence[ErrorDetails]) -> ToolParametersError:
    places = [_sentence(problem) for problem in problems]
    more = len(places) - _SHOWN_ERRORS
    text = "; ".join(places[:_SHOWN_ERRORS]) + (f"; and {more} more" if more > 0 else "")
    kind = (
        MissingValueError
        if all(problem["type"] == "missing" for problem in problems)
        else ToolParametersError
    )
    return kind(
        f"the parameters do not fit {request_class.__name__} ({text}); "
        f"its fields are {', '.join(request_class.model_fields) or 'none'}"
    )


def _sentence(problem: ErrorDetails) -> str:
    place = ".".join(map(str, problem["loc"])) or "the whole"
    if problem["type"] == "missing":
        return f"{place}: a value is needed"
    return f"{place}: {problem['msg']}, not {shown(problem['input'])}"
