"""A tool started by name: the request's parameters stand in for those that a model would draw."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from toolkit.llm.assistant import LlmAssistant
from toolkit.tool import ChatbotTool

_given: ContextVar[Mapping[str, dict[str, Any]]] = ContextVar("tudastar_given_parameters")


@contextmanager
def given_parameters(tool_name: str, parameters: dict[str, Any]) -> Iterator[None]:
    """Within it, `generate_tool_request` for that tool answers with these parameters, without a model."""
    token = _given.set({tool_name: parameters})
    try:
        yield
    finally:
        _given.reset(token)


class ParameterAwareAssistant:
    """An `LlmAssistant` that knows the parameters given in the request, and passes all else on."""

    def __init__(self, inner: LlmAssistant) -> None:
        self._inner = inner

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        """The parameters that the request gives for the tool, or those that the model draws."""
        given = _given.get({}).get(tool.name)
        if given is not None:
            return {tool.name: dict(given)}
        return await self._inner.generate_tool_request(user_prompt, system_prompt, tasks, tool)

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Passed on."""
        return await self._inner.generate_json(user_prompt, system_prompt, schema)

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        """Passed on."""
        return await self._inner.generate_text(user_prompt, system_prompt)

    def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        """Passed on."""
        return self._inner.stream_text(user_prompt, system_prompt)
