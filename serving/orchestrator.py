"""The orchestrator: splits a question, runs tools by priority, and gathers their contexts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar

from pydantic import BaseModel

from serving.contexts import ContextBuffer, Contribution
from serving.judging import Judge, Settled
from serving.running import ToolRunner
from serving.trace import Trace
from toolkit.documents import merge_documents, public_documents
from toolkit.emitter import ProgressEvent
from toolkit.kinds import (
    MAX_PRIORITY,
    OrchestratorActivatedTool,
    OrchestratorTool,
    ToolDependent,
)
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.tool import ALL, ToolCall

MOST_SUB_QUERIES = 8
"""Of one question, further hops included."""

AnyTool = OrchestratorActivatedTool[Any]


class NoParameters(BaseModel):
    """An orchestrator has no parameters."""


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


class AbstractOrchestratorTool(OrchestratorTool[NoParameters]):
    """A template whose steps a subclass replaces singly: `split`, `pick`, `judge_group`, `further_queries`.

    One instance serves one request: `begin`, then `execute_with_result`, whose result is the decisive tool's,
    or CONTEXT with all that was gathered; `buffer` tells from which tools.
    """

    request_class = NoParameters
    max_hops: ClassVar[int | None] = None
    """Rounds of further sub-queries after the first one; None: as the settings say."""

    scope: OrchestratorScope
    buffer: ContextBuffer
    _sufficient: set[str]
    """Sub-queries whose context the gate found good enough."""

    def begin(self, scope: OrchestratorScope, buffer: ContextBuffer | None = None) -> None:
        """Take what the request brings; a buffer goes on from an earlier run and repeats none of its work."""
        self.scope = scope
        self._sufficient = set()
        self.buffer = ContextBuffer() if buffer is None else buffer

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """Run the rounds. None when no tool gave anything."""
        queries = await self.split(call)
        if call.user_prompt in self.buffer.guaranteed_queries:
            self.buffer.guaranteed_queries.update(query.strip() for query in queries)
        tasks: list[Task] = []
        hops = self.scope.hops if self.max_hops is None else self.max_hops
        for hop in range(hops + 1):
            new = self._number(queries, tasks)
            tasks.extend(new)
            decisive = await self._run_round(call, new)
            if decisive is not None:
                return decisive
            if hop == hops or self._all_suffice(tasks):
                break
            queries = await self.further_queries(call, tasks)
            if not queries:
                break
        documents = merge_documents(*(entry.documents for entry in self.buffer.contributions))
        return ToolExecutionResult.as_context(self.name, documents) if documents else None

    async def split(self, call: ToolCall) -> list[str]:
        """The question in sub-queries."""
        return await self.scope.judge.sub_queries(call.user_prompt, self.scope.settled)

    async def pick(self, call: ToolCall, task: Task) -> list[AnyTool]:
        """The tools that may help with a sub-query; those they depend on are added by the template."""
        names = set(await self.scope.judge.suitable_tools(task.query, self.scope.tools, self.scope.settled))
        return [tool for tool in self.scope.tools if tool.name in names or tool.priority == MAX_PRIORITY]

    async def judge_group(self, call: ToolCall, task: Task, priority: int) -> bool:
        """The quality gate after the group of that priority: whether what was found so far suffices."""
        context = self.buffer.of_task(task.number)
        if not context:
            return False
        verdict = await self.scope.judge.suffices(task.query, context, self.scope.settled)
        self.scope.trace.judged(task.number, priority, verdict.suffices, verdict.reason)
        return verdict.suffices

    async def further_queries(self, call: ToolCall, tasks: Sequence[Task]) -> list[str]:
        """Sub-queries that follow from what was found; asked ones are left out by the template."""
        found = public_documents(merge_documents(*(self.buffer.of_task(task.number) for task in tasks)))
        if not found:
            return []
        asked = [task.query for task in tasks]
        return await self.scope.judge.further_queries(call.user_prompt, asked, found, self.scope.settled)

    def _all_suffice(self, tasks: Sequence[Task]) -> bool:
        enough = self._sufficient | self.buffer.guaranteed_queries
        return all(task.query in enough for task in tasks)

    def _number(self, queries: Iterable[str], tasks: Sequence[Task]) -> list[Task]:
        asked = {task.query for task in tasks}
        new = [
            query
            for query in dict.fromkeys(query.strip() for query in queries)
            if query and query not in asked
        ]
        new = new[: MOST_SUB_QUERIES - len(tasks)]
        self.scope.trace.sub_queries.extend(new)
        return [Task(number, query) for number, query in enumerate(new, start=len(tasks) + 1)]

    async def _run_round(self, call: ToolCall, tasks: Sequence[Task]) -> ToolExecutionResult | None:
        """Group after group until a tool answers or every sub-query has enough."""
        picks = await asyncio.gather(*(self.pick(call, task) for task in tasks))
        plan = [
            (task, tool) for task, picked in zip(tasks, picks, strict=True) for tool in with_required(picked)
        ]
        plan.sort(key=lambda pair: (pair[1].priority, pair[0].number, pair[1].name))
        self._trace_unpicked(tasks, plan)
        satisfied: set[Task] = set()
        for priority, group in groupby(plan, key=lambda pair: pair[1].priority):
            pairs = [pair for pair in group if self._is_wanted(*pair, satisfied)]
            if not pairs:
                continue
            self._stage(call, "CONTEXT_SEARCH")
            decisive = self._take_in(await self._run_group(call, pairs))
            if decisive is not None:
                return decisive
            if any(tool.priority > priority for _, tool in plan):
                await self._judge_tasks(call, [task for task, _ in pairs], priority, satisfied)
        return None

    def _is_wanted(self, task: Task, tool: AnyTool, satisfied: set[Task]) -> bool:
        if (task.number, tool.name) in self.buffer.finished:
            reason = "it ran before the question was answered"
        elif task in satisfied:
            reason = "the context sufficed"
        elif tool.priority == MAX_PRIORITY and task.query in self.buffer.guaranteed_queries:
            reason = "a tool vouches for the context"
        else:
            return True
        self.scope.trace.skipped(tool.name, reason, task=task.number)
        return False

    async def _run_group(self, call: ToolCall, pairs: Sequence[tuple[Task, AnyTool]]) -> list[Finished]:
        """All tools of a group at once; the results in the order of the pairs."""
        prior = self.buffer.prior()

        async def run(task: Task, tool: AnyTool) -> ToolExecutionResult | None:
            names = [each.name for each in tool.required_tools] if isinstance(tool, ToolDependent) else []
            required = self.buffer.required(task.number, names)
            own = replace(call, user_prompt=task.query)
            return await self.scope.runner.run(tool, own, prior=prior, required=required, task=task.number)

        results = await asyncio.gather(*(run(task, tool) for task, tool in pairs))
        self.buffer.finished.update((task.number, tool.name) for task, tool in pairs)
        return [
            Finished(task, tool, result)
            for (task, tool), result in zip(pairs, results, strict=True)
            if result is not None
        ]

    def _take_in(self, finished: Sequence[Finished]) -> ToolExecutionResult | None:
        """Keep the contexts; the result that ends the pipeline, if there is one."""
        for mode in (ResultMode.ANSWERED, ResultMode.ANSWER):
            decisive = [entry for entry in finished if entry.result.mode is mode]
            if decisive:
                first = decisive[0]
                for other in finished:
                    if other is not first:
                        self.scope.trace.note(f"{other.tool.name}: dropped, since {first.tool.name} answered")
                return replace(first.result, tool_name=first.tool.name)
        for entry in finished:
            if entry.result.mode is ResultMode.NEEDS_CLARIFICATION:
                self.scope.trace.note(
                    f"{entry.tool.name}: its question is dropped, since none can be asked yet"
                )
                continue
            self.buffer.add(
                Contribution(
                    entry.tool.name,
                    entry.task.query,
                    entry.result.documents,
                    entry.task.number,
                    entry.result.guaranteed,
                )
            )
        return None

    async def _judge_tasks(
        self, call: ToolCall, tasks: Iterable[Task], priority: int, satisfied: set[Task]
    ) -> None:
        open_tasks = [
            task for task in dict.fromkeys(tasks) if task.query not in self.buffer.guaranteed_queries
        ]
        verdicts = await asyncio.gather(*(self.judge_group(call, task, priority) for task in open_tasks))
        satisfied.update(task for task, good in zip(open_tasks, verdicts, strict=True) if good)
        self._sufficient.update(task.query for task in satisfied)

    def _trace_unpicked(self, tasks: Sequence[Task], plan: Sequence[tuple[Task, AnyTool]]) -> None:
        planned = {(task.number, tool.name) for task, tool in plan}
        for task in tasks:
            for tool in self.scope.tools:
                if (task.number, tool.name) not in planned:
                    self.scope.trace.skipped(tool.name, "not suitable for the question", task=task.number)

    def _stage(self, call: ToolCall, status: str) -> None:
        if call.emitter is not None:
            call.emitter.next(ProgressEvent(status))


class DefaultOrchestrator(AbstractOrchestratorTool):
    """Runs where no other orchestrator is active for the request."""

    name = "default_orchestrator"
    domain = None
    eligible_system = ALL


def with_required(tools: Iterable[AnyTool]) -> list[AnyTool]:
    """The tools with all that they depend on, each once."""
    found: dict[str, AnyTool] = {}
    waiting = list(tools)
    while waiting:
        tool = waiting.pop(0)
        if tool.name not in found:
            found[tool.name] = tool
            if isinstance(tool, ToolDependent):
                waiting.extend(sorted(tool.required_tools, key=lambda required: required.name))
    return list(found.values())
