"""Running one tool for one request: bounded, timed, traced, and never raising."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from serving.settings import Limits
from serving.steps import run_steps
from serving.trace import Trace
from toolkit.clarification import ClarificationSession
from toolkit.contexts import NO_CONTEXTS, ToolContexts
from toolkit.coordination import AgentCoordinator
from toolkit.documents import UniqueTextDocument
from toolkit.errors import shown
from toolkit.execution import run_tool_method
from toolkit.invocation import invocation, resumption
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.tool import ChatbotTool, ToolCall

logger = logging.getLogger(__name__)

OnEnded: TypeAlias = Callable[[str, str, float], None]
"""Takes a tool's name, its outcome as in the trace, and the seconds that it took."""


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
        on_ended: OnEnded | None = None,
    ) -> None:
        self._seconds = limits.tool_seconds
        self._running = asyncio.Semaphore(limits.concurrent_tools)
        self._executor = executor
        self._on_ended = on_ended
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
        if isinstance(tool, AgentCoordinator):
            steps = partial(run_steps, self, tool, call, prior, task)
            return await self._traced(tool, steps, task, started_by, nullcontext())
        timed = partial(self._timed, *invocation(tool, call, prior=prior, required=required))
        result = await self._traced(tool, timed, task, started_by, self._running)
        if started_by and result and result.mode is ResultMode.CONTEXT and result.public_documents:
            self.step_contributors[tool.name] = None
        return result

    async def resume(
        self,
        tool: ChatbotTool[Any],
        session: ClarificationSession,
        call: ToolCall,
        *,
        prior: ToolContexts = NO_CONTEXTS,
        task: int | None = None,
    ) -> ToolExecutionResult | None:
        """The result of a tool that goes on with the user's answer; None also when it failed or took too long."""
        try:
            method, args = resumption(tool, session, call, prior)
        except TypeError as error:
            self.trace.note(str(error))
            return None
        return await self._traced(tool, partial(self._timed, method, args), task, None, self._running)

    async def call(self, method: Callable[..., Any], *args: Any) -> Any:
        """What a method of a tool gives, within the limits. Raises what it raises, and ToolTimeoutError."""
        async with self._running:
            return await self._timed(method, args)

    async def is_eligible(
        self, tool: ChatbotTool[Any], user_data: Mapping[str, Any] | None, task: int | None = None
    ) -> bool:
        """Whether a routed tool is open to the user; a gate that fails is shut. A refusal is traced."""
        reason = await refusal(tool, user_data, self._executor, self._seconds)
        if reason is not None:
            self.trace.skipped(tool.name, reason, task=task)
        return reason is None

    async def _traced(
        self,
        tool: ChatbotTool[Any],
        work: Callable[[], Awaitable[Any]],
        task: int | None,
        started_by: str | None,
        slot: AbstractAsyncContextManager[Any],
    ) -> ToolExecutionResult | None:
        """Do the work once there is a slot; the time in the trace is without the wait."""
        entry = self.trace.started(tool.name, task=task, started_by=started_by)
        async with slot:
            started = time.perf_counter()
            outcome = await self._outcome(tool, work)
        seconds = time.perf_counter() - started
        documents = len(outcome.result.documents) if outcome.result else 0
        self.trace.ended(entry, outcome.name, seconds=seconds, documents=documents, reason=outcome.reason)
        if self._on_ended is not None:
            self._on_ended(tool.name, outcome.name, seconds)
        return outcome.result

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
        fault = _fault(result)
        if fault is not None:
            logger.error("tool %s %s", tool.name, fault)
            return _Outcome("FAILED", reason=fault)
        return _Outcome(result.mode.value, result)

    async def _timed(self, method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await run_tool_method(method, *args, executor=self._executor)
        except TimeoutError as error:
            if limit.expired():
                raise ToolTimeoutError(f"no result within {self._seconds:g} s") from error
            raise


async def refusal(
    tool: ChatbotTool[Any], user_data: Mapping[str, Any] | None, executor: Executor, seconds: float
) -> str | None:
    """Why a routed tool is not open to the user; None: it is. A gate that fails or hangs is shut."""
    try:
        async with asyncio.timeout(seconds):
            eligible = await run_tool_method(tool.is_eligible, user_data, executor=executor)
    except Exception as error:
        logger.exception("tool %s: is_eligible failed", tool.name)
        return f"is_eligible failed: {type(error).__name__}"
    return None if eligible else "the user is not eligible"


def _fault(result: object) -> str | None:
    """What is wrong with something that a tool returned; None: nothing."""
    if not isinstance(result, ToolExecutionResult):
        return f"returned {type(result).__name__} instead of a ToolExecutionResult or None"
    foreign = next((each for each in result.documents if not isinstance(each, UniqueTextDocument)), None)
    if foreign is not None:
        return f"returned {type(foreign).__name__} among its documents instead of a UniqueTextDocument"
    untold = next((each for each in result.documents if not isinstance(each.text, str | None)), None)
    if untold is not None:
        return f"returned a document whose text is {type(untold.text).__name__} instead of a text"
    return None
