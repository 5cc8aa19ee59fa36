"""Which tools take part in a request: by kind, domain and systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from toolkit.kinds import AsyncTaskTool, IngestionTool, OrchestratorActivatedTool, OrchestratorTool
from toolkit.tool import ALL, ChatbotTool

Tool = TypeVar("Tool", bound=ChatbotTool[Any])


class ToolKind(StrEnum):
    """Who starts a tool."""

    ROUTED = "ROUTED"
    """The routing, by a model's decision."""
    ORCHESTRATED = "ORCHESTRATED"
    """A running orchestrator."""
    ORCHESTRATOR = "ORCHESTRATOR"
    """The platform, one for each request."""
    INGESTION = "INGESTION"
    """The ingestion."""
    ASYNC_TASK = "ASYNC_TASK"
    """An outside caller."""


KIND_BASES: dict[ToolKind, type] = {
    ToolKind.ORCHESTRATED: OrchestratorActivatedTool,
    ToolKind.ORCHESTRATOR: OrchestratorTool,
    ToolKind.INGESTION: IngestionTool,
    ToolKind.ASYNC_TASK: AsyncTaskTool,
}
"""The base class that makes a tool one of a kind; without any of them it is routed."""


def kind_of(tool: ChatbotTool[Any]) -> ToolKind:
    """The kind of a tool."""
    return next((kind for kind, base in KIND_BASES.items() if isinstance(tool, base)), ToolKind.ROUTED)


def is_active(tool: ChatbotTool[Any], domain: str, systems: Iterable[str]) -> bool:
    """Whether a tool serves requests for this domain and these systems."""
    if tool.domain is not None and tool.domain != domain:
        return False
    named = set(systems)
    if tool.eligible_system is None:
        return not named
    return tool.eligible_system == ALL or tool.eligible_system in named


def active_tools(tools: Iterable[Tool], domain: str, systems: Iterable[str]) -> tuple[Tool, ...]:
    """Those of the tools that serve the request, in their order."""
    named = frozenset(systems)
    return tuple(tool for tool in tools if is_active(tool, domain, named))


def closest_tools(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Of tools that are active for one request, those made for it most closely; several are a tie.

    A named domain goes before none, then a named system before `ALL` before none.
    """
    best = min(map(_distance, tools), default=None)
    return tuple(tool for tool in tools if _distance(tool) == best)


def _distance(tool: ChatbotTool[Any]) -> tuple[bool, int]:
    if tool.eligible_system is None:
        return (tool.domain is None, 2)
    return (tool.domain is None, 1 if tool.eligible_system == ALL else 0)
