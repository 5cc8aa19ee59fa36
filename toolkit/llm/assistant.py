"""The language model as tools see it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from toolkit.tool import ChatbotTool


class LlmAssistant(Protocol):
    """A model behind an OpenAI-compatible server, or the offline assistant. Calls run in parallel.

    Every method raises `LlmError` when the model gives nothing usable in time. What a model thinks before it
    answers is no part of any answer.
    """

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        """The tool's parameters drawn from the prompt: {tool name: parameters, validated against its schema}.

        In `system_prompt` the first `%s` becomes `tasks`, the second the tool's instruction. The key may
        be absent, or its value None, when nothing was extracted.
        """

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        """An object that is valid by the JSON schema."""

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        """The whole answer; of one cut off at the limit of tokens, the LlmTruncatedError has the text."""

    def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        """The answer piece by piece; closing the iterator ends the call.

        Raises LlmTruncatedError behind the last piece of an answer that is cut off.
        """
