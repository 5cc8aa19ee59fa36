"""Running one tool for one request: bounded, timed, traced, and never raising."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from serving.settings import Limits
from serving.trace import Trace
from toolkit.errors import shown
from toolkit.execution import run_tool_method
from toolkit.results import ToolExecutionResult
from toolkit.tool import ChatbotTool, ToolOutcome

logger = logging.getLogger(__name__)


class ToolRunner:
    """Runs the tools of one request, so many at once, each within the time limit."""

    def __init__(self, limits: Limits, executor: Executor, trace: Trace) -> None:
        self._seconds = limits.tool_seconds
        self._running = asyncio.Semaphore(limits.concurrent_tools)
        self._executor = executor
        self._trace = trace

    async def run(
        self, tool: ChatbotTool[Any], method: Callable[..., ToolOutcome], *args: Any, task: int | None = None
    ) -> ToolExecutionResult | None:
        """The result of a method of the tool; None also when it failed or took too long."""
        entry = self._trace.started(tool.name, task=task)
        async with self._running:
            started = time.perf_counter()
            outcome, result, reason = await self._call(tool, method, args)
        seconds = time.perf_counter() - started
        documents = len(result.documents) if result else 0
        self._trace.ended(entry, outcome, seconds=seconds, documents=documents, reason=reason)
        return result

    async def _call(
        self, tool: ChatbotTool[Any], method: Callable[..., ToolOutcome], args: tuple[Any, ...]
    ) -> tuple[str, ToolExecutionResult | None, str | None]:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                result = await run_tool_method(method, *args, executor=self._executor)
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                reason = f"no result within {self._seconds:g} s"
                logger.error("tool %s: %s", tool.name, reason)
                return "TIMED_OUT", None, reason
            logger.exception("tool %s failed", tool.name)
            return "FAILED", None, f"{type(error).__name__}: {shown(str(error))}"
        if result is None:
            return "NONE", None, None
        if not isinstance(result, ToolExecutionResult):
            reason = f"returned {type(result).__name__} instead of a ToolExecutionResult or None"
            logger.error("tool %s %s", tool.name, reason)
            return "FAILED", None, reason
        return result.mode.value, result, None
