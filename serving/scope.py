"""What an orchestrator works with and on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from serving.judging import Judge, Settled
from serving.running import ToolRunner
from serving.trace import Trace
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult

AnyTool: TypeAlias = OrchestratorActivatedTool[Any]


async def _keep_nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class OrchestratorScope:
    """What an orchestrator works with for one request."""

    tools: Sequence[AnyTool]
    """Active for the request's domain and systems."""
    judge: Judge
    settled: Settled
    runner: ToolRunner
    trace: Trace
    hops: int = 0
    """Rounds of further sub-queries, unless the orchestrator sets its own."""
    reply: str | None = None
    """The user's answer to the first of the buffer's open questions."""
    checkpoint: Callable[[], Awaitable[None]] = _keep_nothing
    """Called when a group has ended: keep the buffer."""


@dataclass(frozen=True, slots=True)
class Task:
    """A sub-query."""

    number: int
    """Counted from 1."""
    query: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A tool that has run for a task."""

    task: Task
    tool: AnyTool
    result: ToolExecutionResult
