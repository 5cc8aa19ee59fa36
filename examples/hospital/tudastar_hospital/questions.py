"""What several of the tools do with a question."""

from __future__ import annotations

import unicodedata
from typing import Any

from toolkit.llm.assistant import LlmAssistant
from toolkit.tool import ChatbotTool, ToolCall

PROMPT = "Fill in the fields from the question; leave null what it does not tell. %s\n%s"
"""The platform puts the tool's `instruction` for the second `%s`; there are no `tasks` for the first one."""


async def drawn(llm: LlmAssistant, call: ToolCall, tool: ChatbotTool[Any]) -> dict[str, Any]:
    """The tool's parameters as the question tells them; empty when it tells none."""
    found = await llm.generate_tool_request(call.user_prompt, PROMPT, None, tool)
    return found.get(tool.name) or {}


def fold(text: str) -> str:
    """Small letters without accents, to compare names by: `Őri Gergő` → `ori gergo`."""
    letters = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
