"""Running one tool as the platform would, without the platform.

run = run_tool(DepartmentInfo, "Hol a sebészet?", llm=ScriptedLlm({"department_info": {…}}))
assert run.result == ToolExecutionResult.as_context("department_info", …)
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from toolkit.clarification import ClarificationSession
from toolkit.contexts import NO_CONTEXTS, ToolContexts, freeze_contexts
from toolkit.coordination import AgentCoordinator, AgentStep
from toolkit.discovery import ToolClass
from toolkit.errors import PluginLoadError
from toolkit.execution import run_tool_method
from toolkit.invocation import invocation, resumption
from toolkit.knowledge import KnowledgeBase
from toolkit.llm.assistant import LlmAssistant
from toolkit.registry import ToolRegistry
from toolkit.results import ToolExecutionResult
from toolkit.testing.knowledge import MemoryKnowledgeBase
from toolkit.testing.llm import ScriptedLlm
from toolkit.testing.recording import RecordingCallback, RecordingEmitter
from toolkit.threads import DaemonThreadPool
from toolkit.tool import ChatbotTool, ToolCall

Tool = TypeVar("Tool", bound=ChatbotTool[Any])


@dataclass(frozen=True, slots=True)
class ToolRun:
    """What a tool gave back and what it sent."""

    result: ToolExecutionResult | None
    emitter: RecordingEmitter
    callback: RecordingCallback


class ToolHarness:
    """Some tools, loaded and initialised as the platform does it.

    Raises PluginLoadError when one of them would be left out.
    """

    def __init__(
        self,
        *tool_classes: ToolClass,
        llm: LlmAssistant | None = None,
        knowledge: KnowledgeBase | None = None,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.registry = ToolRegistry(
            tool_classes,
            llm=llm or ScriptedLlm(),
            knowledge=knowledge or MemoryKnowledgeBase(),
            settings=settings,
            plugins=(),
        )
        for each in self.registry.report.left_out:
            raise PluginLoadError(f"{each.what} would be left out ({each.stage}): {each.reason}")
        self._threads = DaemonThreadPool(4, "harness")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def tool(self, tool_class: type[Tool]) -> Tool:
        """The instance of a class. Raises LookupError."""
        for each in self.registry.tools:
            if type(each) is tool_class:
                return each
        raise LookupError(f"no tool of class {tool_class.__qualname__} is loaded")

    async def run(
        self,
        tool: ChatbotTool[Any],
        call: ToolCall,
        contexts: ToolContexts = NO_CONTEXTS,
        session: ClarificationSession | None = None,
    ) -> ToolRun:
        """Run a tool by the method of its kind; with a session, resume it.

        `contexts` are the prior ones of a context consumer or the required ones of a dependent tool. An emitter
        and a callback that record are put into the call where it has none. Raises what the tool raises.
        """
        emitter, callback = RecordingEmitter(), RecordingCallback()
        heard = replace(call, emitter=call.emitter or emitter, final_callback=call.final_callback or callback)
        return ToolRun(await self.run_silently(tool, heard, contexts, session), emitter, callback)

    async def decompose(
        self, coordinator: AgentCoordinator[Any], call: ToolCall, contexts: ToolContexts = NO_CONTEXTS
    ) -> AgentStep | None:
        """The tree of steps of a coordinator. Raises what it raises."""
        return await run_tool_method(
            coordinator.decompose, call, freeze_contexts(contexts), executor=self._threads
        )

    async def run_silently(
        self,
        tool: ChatbotTool[Any],
        call: ToolCall,
        contexts: ToolContexts = NO_CONTEXTS,
        session: ClarificationSession | None = None,
    ) -> ToolExecutionResult | None:
        """The same with the call as it is."""
        frozen = freeze_contexts(contexts)
        if session is None:
            method, arguments = invocation(tool, call, prior=frozen, required=frozen or None)
        else:
            method, arguments = resumption(tool, session, call, frozen)
        return await run_tool_method(method, *arguments, executor=self._threads)


def run_tool(
    tool_class: ToolClass,
    prompt: str,
    *,
    llm: LlmAssistant | None = None,
    knowledge: KnowledgeBase | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    others: Sequence[ToolClass] = (),
    domain: str = "test",
    systems: Sequence[str] = (),
    user_lang: str = "magyar",
    important_words: Sequence[str] = (),
    user_data: Mapping[str, Any] | None = None,
    contexts: ToolContexts = NO_CONTEXTS,
    session: ClarificationSession | None = None,
) -> ToolRun:
    """Load a tool with the others that it needs, run it once, and wait for its result.

    For plain tests; where an event loop runs already, use `ToolHarness`. The domain is the tool's own where
    it has one. Raises PluginLoadError, and what the tool raises.
    """
    with ToolHarness(tool_class, *others, llm=llm, knowledge=knowledge, settings=settings) as harness:
        tool = harness.tool(tool_class)
        call = ToolCall(
            prompt,
            tool.domain or domain,
            tuple(systems),
            user_lang,
            tuple(important_words),
            user_data,
        )
        return asyncio.run(harness.run(tool, call, contexts, session))
