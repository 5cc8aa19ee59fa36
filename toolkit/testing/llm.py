"""A language model that says what a test tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from toolkit.errors import LlmOutputError, LlmTruncatedError, ToolParametersError
from toolkit.llm.extraction import validated_json
from toolkit.parameters import MissingValueError, plain_parameters, validated_parameters
from toolkit.prompting import fill_system_prompt
from toolkit.tool import ChatbotTool

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LlmCall:
    """One call of the model, as it was made."""

    method: str
    user_prompt: str
    system_prompt: str
    """As the model sees it, filled in."""
    tool_name: str | None = None


class ScriptedLlm:
    """An `LlmAssistant` without a model, for tests of tools.

        ScriptedLlm(parameters={"department_info": {"department": "sebészet"}}, texts=["A sebészet …"])

    `parameters` has, by tool name, what is drawn from any prompt; a tool without an entry has nothing drawn.
    `objects` and `texts` are given out in their order, one a call. Parameters and objects are validated as the
    true client does it. An exception in the place of an answer is raised, an LlmTruncatedError in the place of a
    streamed text behind the words that it holds. `calls` has what was asked.

    Raises AssertionError when a script is at its end.
    """

    def __init__(
        self,
        parameters: Mapping[str, Mapping[str, Any] | Exception | None] | None = None,
        objects: Iterable[dict[str, Any] | Exception] = (),
        texts: Iterable[str | Exception] = (),
    ) -> None:
        self._parameters = dict(parameters or {})
        self._objects = list(objects)
        self._texts = list(texts)
        self.calls: list[LlmCall] = []

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        """The parameters of the script, validated by the tool's request class."""
        filled = fill_system_prompt(system_prompt, tasks, tool.instruction)
        self.calls.append(LlmCall("generate_tool_request", user_prompt, filled, tool.name))
        if tool.name not in self._parameters:
            return {}
        given = self._parameters[tool.name]
        if isinstance(given, Exception):
            raise given
        if given is None:
            return {tool.name: None}
        try:
            return {tool.name: plain_parameters(validated_parameters(tool.request_class, given))}
        except MissingValueError:
            return {tool.name: None}
        except ToolParametersError as error:
            raise LlmOutputError(f"the script does not fit tool {tool.name!r}: {error}") from error

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The next object of the script, validated by the schema."""
        self.calls.append(LlmCall("generate_json", user_prompt, system_prompt))
        try:
            return validated_json(_next(self._objects, "objects"), schema)
        except ValueError as error:
            raise LlmOutputError(f"the script does not fit the schema: {error}") from error

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        """The next text of the script."""
        self.calls.append(LlmCall("generate_text", user_prompt, system_prompt))
        return _next(self._texts, "texts")

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        """The next text of the script, word by word."""
        self.calls.append(LlmCall("stream_text", user_prompt, system_prompt))
        cut_off: LlmTruncatedError | None = None
        try:
            text = _next(self._texts, "texts")
        except LlmTruncatedError as error:
            cut_off, text = error, error.output
        for number, word in enumerate(text.split(" ") if text else ()):
            yield f" {word}" if number else word
        if cut_off is not None:
            raise cut_off


def _next(script: list[T | Exception], name: str) -> T:
    if not script:
        raise AssertionError(f"the model was asked more often than the script has {name}; give it more")
    answer = script.pop(0)
    if isinstance(answer, Exception):
        raise answer
    return answer
