"""The kinds of tool beside the routed one: who starts them, and with what.

Kinds combine as bases of one class, for instance
`class RiskTool(OrchestratorActivatedTool[RiskRequest], ToolDependent[RiskRequest])`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Protocol

from toolkit.clarification import ClarificationSession
from toolkit.contexts import NO_CONTEXTS, ToolContexts
from toolkit.tool import ChatbotTool, Request, ToolCall, ToolOutcome

MAX_PRIORITY = 2**31 - 1
"""The last priority: that of the retrieval fallback. Greater ones are refused."""


class OrchestratorActivatedTool(ChatbotTool[Request]):
    """Started by a running orchestrator alone, never by the routing; `is_eligible` is not asked."""

    priority: ClassVar[int]
    """Mandatory. Smaller runs earlier, equal ones run in parallel; at most `MAX_PRIORITY`."""


class OrchestratorTool(ChatbotTool[Request]):
    """Marks an orchestrator: the one tool that runs a whole request.

    It is chosen by domain and system. Other than all other tools it may keep state: each request gets an
    instance of its own.
    """


class IngestionOutcome(Protocol):
    """The least that the report of an ingestion says."""

    @property
    def status(self) -> str:
        """How it ended, in a word; `failed` when it did not end well."""

    @property
    def error(self) -> str | None:
        """What went wrong and what to do."""


class IngestionTool(ChatbotTool[Request]):
    """Fills a knowledge store; no chat ever starts it."""

    @abstractmethod
    def execute_ingestion(self, request: Request) -> IngestionOutcome | Awaitable[IngestionOutcome]:
        """Ingest, and report. Idempotent; an error is logged and stands in the report, it is not raised."""

    def execute_with_result(self, call: ToolCall) -> ToolOutcome:
        """Nothing: this kind takes no part in the chat."""
        return None


class ContextConsumerTool(ChatbotTool[Request]):
    """Works on what the tools before it found, if anything. Combine with `OrchestratorActivatedTool`."""

    @abstractmethod
    def execute_with_prior_context(self, call: ToolCall, prior_tool_contexts: ToolContexts) -> ToolOutcome:
        """Do the work.

        `prior_tool_contexts` is a read-only snapshot of all finished groups, of all sub-queries, by
        `"<taskNo>:<toolName>"`; changing it raises. Use it within this call only.
        """

    def execute_with_result(self, call: ToolCall) -> ToolOutcome:
        """Always raises NotImplementedError: this kind does not run without prior contexts."""
        raise NotImplementedError(
            f"tool {self.name!r} consumes prior contexts: call execute_with_prior_context, "
            "with an empty mapping when there are none"
        )


class ToolDependent(ChatbotTool[Request]):
    """Cannot do without what certain other tools find. Combine with `OrchestratorActivatedTool`."""

    @property
    @abstractmethod
    def required_tools(self) -> AbstractSet[OrchestratorActivatedTool[Any]]:
        """The instances of those tools, taken in `init`; each with a strictly smaller priority.

        They run before this tool for the same sub-query, also where they were not picked.
        """

    @abstractmethod
    def execute_with_required_context(
        self, call: ToolCall, required_tool_contexts: ToolContexts
    ) -> ToolOutcome:
        """Do the work.

        `required_tool_contexts` has what the required tools found for the same sub-query, by plain tool
        name; a tool that found nothing has no key or an empty list.
        """

    def execute_with_result(self, call: ToolCall) -> ToolOutcome:
        """Run without contexts, as when the tool is started by its name."""
        return self.execute_with_required_context(call, NO_CONTEXTS)


class ClarifiableTool(OrchestratorActivatedTool[Request]):
    """May ask the user for a missing parameter; its priority is typically 0."""

    @abstractmethod
    def execute_with_clarification(self, session: ClarificationSession, call: ToolCall) -> ToolOutcome:
        """Go on with the user's answer.

        `call` carries the original question, systems, language and words, with a new emitter and callback.
        Any result is valid, a further question too; None: the question is used up, the next group runs.
        """


class ClarifiableContextConsumerTool(ClarifiableTool[Request], ContextConsumerTool[Request]):
    """A context consumer that may ask the user; it is resumed with the prior contexts as well."""

    @abstractmethod
    def execute_with_clarification_and_prior_context(
        self, session: ClarificationSession, prior_tool_contexts: ToolContexts, call: ToolCall
    ) -> ToolOutcome:
        """Go on with the user's answer and the snapshot of what was found so far."""

    def execute_with_clarification(self, session: ClarificationSession, call: ToolCall) -> ToolOutcome:
        """Always raises NotImplementedError: this kind is not resumed without prior contexts."""
        raise NotImplementedError(
            f"tool {self.name!r} consumes prior contexts: call execute_with_clarification_and_prior_context"
        )


class TaskProgress(Protocol):
    """Takes word of how far a task has come. Never blocks, and may be called from any thread."""

    def report(self, done: int, total: int | None = None, message: str = "") -> None:
        """So many units of work of so many are done.

        Raises TaskCancelledError when the task has been cancelled; let it through.
        """


class AsyncTaskTool(ChatbotTool[Request]):
    """Long work that an outside caller starts by its task type; neither chat nor ingestion starts it."""

    task_type: ClassVar[str]
    """Mandatory and unique: the last part of the address that starts the task."""
    safe_to_repeat: ClassVar[bool] = False
    """Whether a task that was running when the server stopped may be run again from the beginning."""

    @abstractmethod
    def run(self, request: Request, progress: TaskProgress) -> Any | Awaitable[Any]:
        """Do the work, and return a result that JSON can hold. An exception ends the task as failed."""

    def execute_with_result(self, call: ToolCall) -> ToolOutcome:
        """Nothing: this kind takes no part in the chat."""
        return None
