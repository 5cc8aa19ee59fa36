"""Which method starts a tool, and with what, by the tool's kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from toolkit.activation import ToolKind, kind_of
from toolkit.clarification import ClarificationSession
from toolkit.contexts import NO_CONTEXTS, ToolContexts
from toolkit.kinds import ClarifiableContextConsumerTool, ClarifiableTool, ContextConsumerTool, ToolDependent
from toolkit.tool import ChatbotTool, ToolCall, ToolOutcome

Invocation: TypeAlias = tuple[Callable[..., ToolOutcome], tuple[Any, ...]]
"""A method of a tool and its arguments, for `run_tool_method`."""


def invocation(
    tool: ChatbotTool[Any],
    call: ToolCall,
    *,
    prior: ToolContexts = NO_CONTEXTS,
    required: ToolContexts | None = None,
) -> Invocation:
    """How a tool of the chat is started.

    A context consumer gets the prior contexts, a dependent tool those that it requires; any other tool none, as a
    dependent one that is started by itself, without those that it requires (`required` is None). Raises TypeError
    for a tool that no question starts.
    """
    if kind_of(tool) in (ToolKind.INGESTION, ToolKind.ASYNC_TASK):
        raise TypeError(f"tool {tool.name!r} is not run by questions; call its own method")
    if isinstance(tool, ContextConsumerTool):
        return tool.execute_with_prior_context, (call, prior)
    if isinstance(tool, ToolDependent) and required is not None:
        return tool.execute_with_required_context, (call, required)
    return tool.execute_with_result, (call,)


def resumption(
    tool: ChatbotTool[Any],
    session: ClarificationSession,
    call: ToolCall,
    prior: ToolContexts = NO_CONTEXTS,
) -> Invocation:
    """How a tool that asked goes on with the user's answer. Raises TypeError for a tool that cannot ask."""
    if isinstance(tool, ClarifiableContextConsumerTool):
        return tool.execute_with_clarification_and_prior_context, (session, prior, call)
    if isinstance(tool, ClarifiableTool):
        return tool.execute_with_clarification, (session, call)
    raise TypeError(f"tool {tool.name!r} is not clarifiable and cannot be resumed")
