"""The chatbot tool: the one contract on which every kind of tool stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from toolkit.emitter import ProgressEmitter, tool_progress_emitter
from toolkit.results import ToolExecutionResult
from toolkit.schema import strict_json_schema
from toolkit.services import Services

ALL = "ALL"
"""As `eligible_system`: active whatever systems the request names, also when it names none."""

Request = TypeVar("Request", bound=BaseModel)

ToolOutcome: TypeAlias = ToolExecutionResult | Awaitable[ToolExecutionResult | None] | None
"""What a tool method returns: the result or None, from a plain method or an `async` one."""


class FinalCallback(Protocol):
    """Takes the whole text of an answer that a tool delivered by itself; the history keeps it."""

    def on_success(self, tool_name: str, response: str) -> None:
        """The tool has delivered `response`: the plain concatenation of all that it streamed."""

    def on_error(self, error: BaseException) -> None:
        """The delivery failed."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One request as a tool sees it. Shared by tools that run in parallel, so it is read-only."""

    user_prompt: str
    domain: str = ""
    """The domain that the request names; a tool that serves every domain needs it."""
    systems: tuple[str, ...] = ()
    """The systems that the request names; empty when it names none."""
    user_lang: str = "magyar"
    """Name of the language of question and answer ("magyar", "angol")."""
    important_words: tuple[str, ...] = ()
    user_data: Mapping[str, Any] | None = None
    """Of the signed-in user; None for an anonymous one."""
    emitter: ProgressEmitter | None = field(default=None, compare=False)
    final_callback: FinalCallback | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "systems", tuple(self.systems or ()))
        object.__setattr__(self, "important_words", tuple(self.important_words or ()))
        if self.user_data is not None:
            object.__setattr__(self, "user_data", MappingProxyType(dict(self.user_data)))


class ChatbotTool(ABC, Generic[Request]):
    """Base of every tool.

    A tool is constructed without arguments, wired once by `init`, and then serves requests in
    parallel: keep nothing of a request in the instance. A method may be `async` or plain; a plain one
    runs in a thread of its own and may block. An exception counts as `None`: the tool is traced as failed and
    the user still gets an answer.
    """

    name: ClassVar[str]
    """Unique; lower case with underscores."""
    domain: ClassVar[str | None] = None
    """The one domain served; None serves every domain."""
    eligible_system: ClassVar[str | None] = None
    """None: only when the request names no system. `ALL`: always. Else: when the request names it."""
    instruction: ClassVar[str] = ""
    """For the model: how to fill in the request's fields."""
    executable_instruction: ClassVar[str] = ""
    """For the model: `<name>:` and when this tool is needed (true if …, false if …)."""
    request_class: ClassVar[type[BaseModel]]
    system_prompt_supplement: ClassVar[str | None] = None
    """Joined to the domain's system prompt when this tool gave a context."""

    def init(self, services: Services) -> None:
        """Called once, after all tools are constructed: take what the tool needs.

        A plain method; an exception leaves this tool out, and so the ones that need it.
        """
        return

    def is_eligible(self, user_data: Mapping[str, Any] | None) -> bool | Awaitable[bool]:
        """A gate without a model, asked before the routing (rights, roles)."""
        return True

    def request_json_schema(self) -> dict[str, Any]:
        """The request's JSON schema in the strict form of constrained decoding."""
        return strict_json_schema(self.request_class)

    def tool_progress_emitter(self, emitter: ProgressEmitter | None) -> ProgressEmitter:
        """An emitter that puts this tool's name space before each status; safe with None."""
        return tool_progress_emitter(self.name, emitter)

    @abstractmethod
    def execute_with_result(self, call: ToolCall) -> ToolOutcome:
        """Do the work. None: not for this tool, the pipeline goes on without it."""
