"""A tool's request out of the user's question, in one call."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import cast

from toolkit.llm.assistant import LlmAssistant
from toolkit.parameters import validated_parameters
from toolkit.tool import ChatbotTool, Request, ToolCall


async def draw_request(
    llm: LlmAssistant,
    tool: ChatbotTool[Request],
    call: ToolCall,
    *,
    system_prompt: str | None = None,
    tasks: str | None = None,
) -> Request | None:
    """The tool's request as the question tells it; None when nothing could be drawn.

    In `system_prompt`, by default a general one in the user's language, the first `%s` becomes `tasks`, the second
    the tool's instruction. Raises LlmError.
    """
    prompt = _general_prompt(call.user_lang) if system_prompt is None else system_prompt
    found = await llm.generate_tool_request(call.user_prompt, prompt, tasks, tool)
    parameters = found.get(tool.name)
    if parameters is None:
        return None
    return cast(Request, validated_parameters(tool.request_class, parameters))


@cache
def _general_prompt(user_lang: str) -> str:
    language = "hu" if user_lang == "magyar" else "en"
    return files("toolkit.llm").joinpath("prompts", f"draw.{language}.md").read_text("utf-8").strip()
