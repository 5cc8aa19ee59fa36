"""Running one tool for one request: bounded, timed, traced, and never raising."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from serving.settings import Limits
from serving.steps import run_steps
from serving.trace import Trace
from toolkit.contexts import NO_CONTEXTS, ToolContexts
from toolkit.coordination import AgentCoordinator
from toolkit.errors import shown
from toolkit.execution import run_tool_method
from toolkit.invocation import invocation
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.tool import ChatbotTool, ToolCall

logger = logging.getLogger(__name__)


class ToolTimeoutError(Exception):
    """A tool gave no result in time."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    name: str
    result: ToolExecutionResult | None = None
    reason: str | None = None


class ToolRunner:
    """Runs the tools of one request, so many at once, each within the time limit."""

    def __init__(
        self,
        limits: Limits,
        executor: Executor,
        trace: Trace,
        step_tools: Sequence[ChatbotTool[Any]] = (),
    ) -> None:
        self._seconds = limits.tool_seconds
        self._running = asyncio.Semaphore(limits.concurrent_tools)
        self._executor = executor
        self.trace = trace
        self.step_tools = {tool.name: tool for tool in step_tools if not isinstance(tool, AgentCoordinator)}
        """The tools that a coordinator's step may name."""
        self.step_contributors: dict[str, None] = {}
        """Names of the tools that gave a context as a step, in order."""

    async def run(
        self,
        tool: ChatbotTool[Any],
        call: ToolCall,
        *,
        prior: ToolContexts = NO_CONTEXTS,
        required: ToolContexts | None = None,
        task: int | None = None,
        started_by: str | None = None,
    ) -> ToolExecutionResult | None:
        """A tool's result, by the method of its kind; None also when it failed or took too long.

        Of a coordinator the steps are run, each within limits of its own.
        """
        entry = self.trace.started(tool.name, task=task, started_by=started_by)
        if isinstance(tool, AgentCoordinator):
            started = time.perf_counter()
            outcome = await self._outcome(tool, partial(run_steps, self, tool, call, prior, task))
        else:
            async with self._running:
                started = time.perf_counter()
                outcome = await self._outcome(
                    tool, partial(self._timed, *_start(tool, call, prior, required))
                )
        seconds = time.perf_counter() - started
        result = outcome.result
        documents = len(result.documents) if result else 0
        self.trace.ended(entry, outcome.name, seconds=seconds, documents=documents, reason=outcome.reason)
        if started_by and result and result.mode is ResultMode.CONTEXT and result.public_documents:
            self.step_contributors[tool.name] = None
        return result

    async def call(self, method: Callable[..., Any], *args: Any) -> Any:
        """What a method of a tool gives, within the limits. Raises what it raises, and ToolTimeoutError."""
        async with self._running:
            return await self._timed(method, args)

    async def is_eligible(
        self, tool: ChatbotTool[Any], user_data: Mapping[str, Any] | None, task: int | None = None
    ) -> bool:
        """Whether a routed tool is open to the user; a gate that fails is shut. A refusal is traced."""
        try:
            eligible = await run_tool_method(tool.is_eligible, user_data, executor=self._executor)
        except Exception as error:
            logger.exception("tool %s: is_eligible failed", tool.name)
            self.trace.skipped(tool.name, f"is_eligible failed: {type(error).__name__}", task=task)
            return False
        if not eligible:
            self.trace.skipped(tool.name, "the user is not eligible", task=task)
        return bool(eligible)

    async def _outcome(self, tool: ChatbotTool[Any], work: Callable[[], Awaitable[Any]]) -> _Outcome:
        try:
            result = await work()
        except ToolTimeoutError as error:
            logger.error("tool %s: %s", tool.name, error)
            return _Outcome("TIMED_OUT", reason=str(error))
        except Exception as error:
            logger.exception("tool %s failed", tool.name)
            return _Outcome("FAILED", reason=f"{type(error).__name__}: {shown(str(error))}")
        if result is None:
            return _Outcome("NONE")
        if not isinstance(result, ToolExecutionResult):
            reason = f"returned {type(result).__name__} instead of a ToolExecutionResult or None"
            logger.error("tool %s %s", tool.name, reason)
            return _Outcome("FAILED", reason=reason)
        return _Outcome(result.mode.value, result)

    async def _timed(self, method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await run_tool_method(method, *args, executor=self._executor)
        except TimeoutError as error:
            if limit.expired():
                raise ToolTimeoutError(f"no result within {self._seconds:g} s") from error
            raise


def _start(
    tool: ChatbotTool[Any], call: ToolCall, prior: ToolContexts, required: ToolContexts | None
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return invocation(tool, call, prior=prior, required=required)
