"""What the platform checks of a tool before it serves."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from pydantic import BaseModel

from toolkit.activation import KIND_BASES, ToolKind, kind_of
from toolkit.errors import SchemaError
from toolkit.kinds import (
    MAX_PRIORITY,
    AsyncTaskTool,
    ContextConsumerTool,
    OrchestratorActivatedTool,
    ToolDependent,
)
from toolkit.tool import ChatbotTool

_USUAL_NAME = re.compile(r"[a-z][a-z0-9_]*")
_POSSIBLE_NAME = re.compile(r"[^\s:/]+")
"""A name stands in keys before a colon, in event statuses and in addresses."""
_CHAT_KINDS = (ToolKind.ROUTED, ToolKind.ORCHESTRATED)


def contract_faults(tool: ChatbotTool[Any]) -> list[str]:
    """What the tool declares wrongly, so that it cannot serve; each with what would be right."""
    return [fault for check in (_general_faults, _kind_faults, _priority_faults) for fault in check(tool)]


def contract_warnings(tool: ChatbotTool[Any]) -> list[str]:
    """What the tool had better declare otherwise."""
    return list(_warnings(tool))


def required_faults(tool: ChatbotTool[Any], loaded: Collection[ChatbotTool[Any]]) -> list[str]:
    """What is wrong with the tools that a dependent tool requires. Call it after `init`."""
    if not isinstance(tool, ToolDependent):
        return []
    try:
        required = list(tool.required_tools)
    except Exception as error:
        return [f"its required_tools cannot be read: {type(error).__name__}: {error}"]
    return [fault for each in required for fault in _one_required_fault(tool, each, loaded)]


def _general_faults(tool: ChatbotTool[Any]) -> Iterator[str]:
    name = getattr(tool, "name", None)
    if not isinstance(name, str) or not _POSSIBLE_NAME.fullmatch(name):
        yield f"its name is {name!r}; set `name` to lower-case letters, digits and underscores"
    request_class = getattr(tool, "request_class", None)
    if not isinstance(request_class, type) or not issubclass(request_class, BaseModel):
        yield f"its request_class is {request_class!r}; set `request_class` to a pydantic model"
    for field in ("domain", "eligible_system", "system_prompt_supplement"):
        value = getattr(tool, field)
        if value is not None and (not isinstance(value, str) or not value):
            yield f"its {field} is {value!r}; valid are None and a non-empty text"
    for field in ("instruction", "executable_instruction"):
        if not isinstance(getattr(tool, field), str):
            yield f"its {field} is {getattr(tool, field)!r}; set a text"


def _kind_faults(tool: ChatbotTool[Any]) -> Iterator[str]:
    bases = [base.__name__ for base in KIND_BASES.values() if isinstance(tool, base)]
    if len(bases) > 1:
        yield f"it is of several kinds ({', '.join(bases)}); keep one of these bases"
    for base in (ContextConsumerTool, ToolDependent):
        if isinstance(tool, base) and not isinstance(tool, OrchestratorActivatedTool):
            yield (
                f"it is a {base.__name__}, which an orchestrator alone can run; "
                "add OrchestratorActivatedTool to its bases, and a priority"
            )
    if isinstance(tool, AsyncTaskTool):
        task_type = getattr(tool, "task_type", None)
        if not isinstance(task_type, str) or not _POSSIBLE_NAME.fullmatch(task_type):
            yield f"its task_type is {task_type!r}; set a text without spaces, colons and slashes"


def _priority_faults(tool: ChatbotTool[Any]) -> Iterator[str]:
    if not isinstance(tool, OrchestratorActivatedTool):
        return
    priority = getattr(tool, "priority", None)
    if priority is None:
        yield f"it has no priority; set `priority`, a whole number of at most {MAX_PRIORITY}"
    elif not isinstance(priority, int) or isinstance(priority, bool) or priority > MAX_PRIORITY:
        yield f"its priority is {priority!r}; valid are whole numbers of at most {MAX_PRIORITY}"


def _warnings(tool: ChatbotTool[Any]) -> Iterator[str]:
    if not _USUAL_NAME.fullmatch(tool.name):
        yield f"tool {tool.name!r}: a name should have lower-case letters, digits and underscores only"
    if kind_of(tool) not in _CHAT_KINDS:
        return
    if not tool.executable_instruction.lstrip().startswith(f"{tool.name}:"):
        yield (
            f"tool {tool.name!r}: its executable_instruction should begin with {tool.name + ':'!r} and say "
            f"when the tool is needed; it begins with {tool.executable_instruction[:40]!r}"
        )
    try:
        tool.request_json_schema()
    except SchemaError as error:
        yield f"tool {tool.name!r}: no parameters can be drawn for it: {error}"


def _one_required_fault(
    tool: ToolDependent[Any], required: Any, loaded: Collection[ChatbotTool[Any]]
) -> Iterator[str]:
    name = getattr(required, "name", repr(required))
    own = getattr(tool, "priority", MAX_PRIORITY)
    if not any(required is each for each in loaded):
        yield f"it requires {name!r}, which is not among the loaded tools; take the instance by services.get"
    elif not isinstance(required, OrchestratorActivatedTool):
        yield f"it requires {name!r}, which no orchestrator can run, since it is no OrchestratorActivatedTool"
    elif required.priority >= own:
        yield f"it requires {name!r}, whose priority {required.priority} must be smaller than its own {own}"
    elif required.domain is not None and tool.domain is not None and required.domain != tool.domain:
        yield f"it serves domain {tool.domain!r} but requires {name!r} of domain {required.domain!r}"
