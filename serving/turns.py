"""Checking a chat request before its stream begins."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from serving.answering import Answerer
from serving.errors import ApiError, shortened, unknown_domain
from serving.identity import User
from serving.judging import Judge
from serving.metrics import Metrics
from serving.parameters import sent_request
from serving.phrases import LANGUAGES, DomainPrompts
from serving.progress import TurnProgress
from serving.running import refusal
from serving.settings import Limits
from serving.state.history import Exchange
from serving.wire import ChatRequest
from toolkit.activation import ToolKind, kind_of
from toolkit.errors import ToolParametersError, ToolRequestError, UnknownToolError
from toolkit.execution import run_tool_method
from toolkit.knowledge import Knowledge, KnowledgeBase
from toolkit.parameters import plain_parameters
from toolkit.registry import ToolRegistry
from toolkit.threads import DaemonThreadPool
from toolkit.tool import ChatbotTool

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChatServices:
    """What the pipeline works with; shared by all requests."""

    registry: ToolRegistry
    knowledge: KnowledgeBase
    judge: Judge
    answerer: Answerer
    limits: Limits
    executor: DaemonThreadPool
    domain_prompts: DomainPrompts
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class Turn:
    """A checked request."""

    request: ChatRequest
    user: User
    knowledge: Knowledge
    """The generation with which the request began."""
    tool: ChatbotTool[Any] | None
    """The tool that the request names."""
    tool_parameters: dict[str, Any] | None
    history: Sequence[Exchange] = field(default=())
    """The conversation before it, oldest first."""
    progress: TurnProgress | None = None
    """The work done before the user was asked."""
    reply: str | None = None
    """The user's answer."""


async def check_request(services: ChatServices, request: ChatRequest, user: User) -> Turn:
    """Check a request before its stream begins. Raises ApiError."""
    if not request.message.strip():
        raise ApiError(422, "EMPTY_MESSAGE", "The message is empty; write a question into `message`.")
    limit = services.limits.message_length
    if len(request.message) > limit:
        detail = f"The message is {len(request.message)} characters long; at most {limit} are possible."
        raise ApiError(422, "MESSAGE_TOO_LONG", detail)
    if request.language is not None and request.language not in LANGUAGES:
        valid = ", ".join(LANGUAGES)
        detail = f"The language {shortened(request.language)!r} is not known; valid are: {valid}."
        raise ApiError(422, "UNKNOWN_LANGUAGE", detail)
    knowledge = await open_domain(services.knowledge, request.domain, services.executor)
    tool, parameters = await _named_tool(services, request, user)
    return Turn(request, user, knowledge, tool, parameters)


async def open_domain(knowledge: KnowledgeBase, domain: str, executor: Executor) -> Knowledge:
    """The newest generation of a domain. Raises ApiError that names the domains there are."""
    try:
        return await run_tool_method(knowledge.open, domain, executor=executor)
    except LookupError as error:
        there_are = await run_tool_method(knowledge.domains, executor=executor)
        if domain in there_are:
            raise
        raise unknown_domain(domain, there_are) from error


async def _named_tool(
    services: ChatServices, request: ChatRequest, user: User
) -> tuple[ChatbotTool[Any] | None, dict[str, Any] | None]:
    if request.tool_name is None:
        if request.tool_parameters is not None:
            raise ApiError(422, "TOOL_NAME_MISSING", "toolParameters are given without a toolName.")
        return None, None
    try:
        tool = services.registry.activatable(request.tool_name, request.domain, request.systems)
        seconds = services.limits.tool_seconds
        if kind_of(tool) is ToolKind.ROUTED and await refusal(tool, user.data, services.executor, seconds):
            raise ApiError(403, "TOOL_NOT_ELIGIBLE", f"Tool {tool.name!r} is not open to this user.")
        if request.tool_parameters is None:
            return tool, None
        parameters = sent_request(tool.request_class, request.tool_parameters, f"tool {tool.name!r}")
        return tool, plain_parameters(parameters)
    except UnknownToolError as error:
        raise ApiError(404, "UNKNOWN_TOOL", str(error)) from error
    except ToolParametersError as error:
        raise ApiError(422, "INVALID_TOOL_PARAMETERS", str(error)) from error
    except ToolRequestError as error:
        raise ApiError(422, "TOOL_NOT_ACTIVATABLE", str(error)) from error
