"""The orchestrator: splits a question, runs tools by priority, and gathers their contexts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import ClassVar

from pydantic import BaseModel

from serving.contexts import ContextBuffer, Contribution, OpenQuestion
from serving.scope import AnyTool, Finished, OrchestratorScope, Task
from toolkit.documents import merge_documents, public_documents
from toolkit.emitter import ProgressEvent
from toolkit.kinds import MAX_PRIORITY, ClarifiableTool, OrchestratorTool, ToolDependent
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.tool import ALL, ToolCall

MOST_SUB_QUERIES = 8
"""Of one question, further hops included."""


class NoParameters(BaseModel):
    """An orchestrator has no parameters."""


class AbstractOrchestratorTool(OrchestratorTool[NoParameters]):
    """A template whose steps a subclass replaces singly: `split`, `pick`, `judge_group`, `further_queries`.

    One instance serves one request: `begin`, then `execute_with_result`, whose result is the decisive tool's, the
    question of a tool to the user, or CONTEXT with all that was gathered; `buffer` tells from which tools.
    """

    request_class = NoParameters
    max_hops: ClassVar[int | None] = None
    """Rounds of further sub-queries after the first one; None: as the settings say."""

    scope: OrchestratorScope
    buffer: ContextBuffer

    def begin(self, scope: OrchestratorScope, buffer: ContextBuffer | None = None) -> None:
        """Take what the request brings; a buffer goes on from an earlier run and repeats none of its work."""
        self.scope = scope
        self.buffer = ContextBuffer() if buffer is None else buffer

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """Resume the tool that asked, or begin; then run the rounds. None when no tool gave anything."""
        decisive = await self._resume(call) if self.buffer.questions else None
        decisive = decisive or await self._run_rounds(call)
        if decisive is not None:
            return decisive
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

    async def _resume(self, call: ToolCall) -> ToolExecutionResult | None:
        """Hand the user's answer to the tool that asked; what it asks further goes before the line."""
        open_question = self.buffer.questions[0]
        task = Task(open_question.task, self.buffer.queries[open_question.task - 1])
        tool = next((each for each in self.scope.tools if each.name == open_question.tool_name), None)
        result = None
        if tool is None:
            self.scope.trace.note(f"{open_question.tool_name} asked, but is no longer there")
        elif self.scope.reply is not None:
            result = await self.scope.runner.resume(
                tool,
                open_question.answered(self.scope.reply),
                replace(call, user_prompt=task.query),
                prior=self.buffer.prior(),
                task=task.number,
            )
        del self.buffer.questions[0]
        finished = [Finished(task, tool, result)] if tool is not None and result is not None else []
        decisive = self._take_in(finished)
        await self.scope.checkpoint()
        return decisive

    async def _run_rounds(self, call: ToolCall) -> ToolExecutionResult | None:
        buffer = self.buffer
        if not buffer.queries:
            buffer.queries.extend(self._new(await self.split(call)))
            if call.user_prompt in buffer.guaranteed_queries:
                buffer.guaranteed_queries.update(buffer.queries)
        hops = self.scope.hops if self.max_hops is None else self.max_hops
        while True:
            tasks = [Task(number, query) for number, query in enumerate(buffer.queries, start=1)]
            decisive = await self._run_round(call, tasks[buffer.round_start :])
            if decisive is not None or buffer.hop == hops or self._all_suffice():
                return decisive
            further = self._new(await self.further_queries(call, tasks))
            if not further:
                return None
            buffer.hop += 1
            buffer.round_start = len(buffer.queries)
            buffer.queries.extend(further)

    def _new(self, queries: Iterable[str]) -> list[str]:
        """Those that have not been asked, as many as there is room for."""
        stripped = dict.fromkeys(query.strip() for query in queries)
        new = [query for query in stripped if query and query not in self.buffer.queries]
        new = new[: MOST_SUB_QUERIES - len(self.buffer.queries)]
        self.scope.trace.sub_queries.extend(new)
        return new

    def _all_suffice(self) -> bool:
        return set(self.buffer.queries) <= self.buffer.sufficient | self.buffer.guaranteed_queries

    async def _run_round(self, call: ToolCall, tasks: Sequence[Task]) -> ToolExecutionResult | None:
        """Group after group until a tool answers or asks, or every sub-query has enough."""
        plan = await self._plan(call, tasks)
        for priority, group in groupby(plan, key=lambda pair: pair[1].priority):
            pairs = list(group)
            wanted = [pair for pair in pairs if self._is_wanted(*pair)]
            if wanted:
                self._stage(call, "CONTEXT_SEARCH")
                decisive = self._take_in(await self._run_group(call, wanted))
                if decisive is not None:
                    return decisive
                await self.scope.checkpoint()
            if any(tool.priority > priority for _, tool in plan):
                await self._judge_tasks(call, pairs, priority)
        return None

    async def _plan(self, call: ToolCall, tasks: Sequence[Task]) -> list[tuple[Task, AnyTool]]:
        """What is to be run for the tasks, in its order; a pick made earlier stands."""
        new = [task for task in tasks if task.number not in self.buffer.picks]
        picks = await asyncio.gather(*(self.pick(call, task) for task in new))
        for task, picked in zip(new, picks, strict=True):
            names = self.buffer.picks[task.number] = [tool.name for tool in with_required(picked)]
            for tool in self.scope.tools:
                if tool.name not in names:
                    self.scope.trace.skipped(tool.name, "not suitable for the question", task=task.number)
        known = {tool.name: tool for tool in with_required(self.scope.tools)}
        plan = [
            (task, known[name]) for task in tasks for name in self.buffer.picks[task.number] if name in known
        ]
        return sorted(plan, key=lambda pair: (pair[1].priority, pair[0].number, pair[1].name))

    def _is_wanted(self, task: Task, tool: AnyTool) -> bool:
        if (task.number, tool.name) in self.buffer.finished:
            return False
        if task.query in self.buffer.sufficient:
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
        """Keep the contexts and questions; the result that ends the run or waits for the user, if there is one."""
        for mode in (ResultMode.ANSWERED, ResultMode.ANSWER):
            first = next((entry for entry in finished if entry.result.mode is mode), None)
            if first is not None:
                dropped = [entry.tool.name for entry in finished if entry is not first]
                dropped += [waiting.tool_name for waiting in self.buffer.questions]
                for name in dropped:
                    self.scope.trace.note(f"{name}: dropped, since {first.tool.name} answered")
                self.buffer.questions.clear()
                return replace(first.result, tool_name=first.tool.name)
        asked = [question for entry in finished if (question := self._question(entry)) is not None]
        self.buffer.questions[:0] = asked
        for entry in finished:
            if entry.result.mode is ResultMode.CONTEXT:
                found, task = entry.result, entry.task
                self.buffer.add(
                    Contribution(
                        entry.tool.name, task.query, found.documents, task.number, found.counts_as_guaranteed
                    )
                )
        if not self.buffer.questions:
            return None
        first_open = self.buffer.questions[0]
        return ToolExecutionResult.needs_clarification(
            first_open.question, first_open.partial_json, first_open.tool_name
        )

    def _question(self, entry: Finished) -> OpenQuestion | None:
        result = entry.result
        if result.mode is not ResultMode.NEEDS_CLARIFICATION:
            return None
        if not isinstance(entry.tool, ClarifiableTool) or result.question is None:
            self.scope.trace.note(f"{entry.tool.name} asked a question, which it may not; it counts as None")
            return None
        return OpenQuestion(entry.task.number, entry.tool.name, result.question, result.partial_json or "{}")

    async def _judge_tasks(
        self, call: ToolCall, pairs: Sequence[tuple[Task, AnyTool]], priority: int
    ) -> None:
        """The quality gate for the tasks of a group that has run, unless a tool vouches for their context."""
        buffer = self.buffer
        ran = dict.fromkeys(task for task, tool in pairs if (task.number, tool.name) in buffer.finished)
        enough = buffer.guaranteed_queries | buffer.sufficient
        tasks = [
            task for task in ran if task.query not in enough and (task.number, priority) not in buffer.judged
        ]
        verdicts = await asyncio.gather(*(self.judge_group(call, task, priority) for task in tasks))
        buffer.judged.update((task.number, priority) for task in tasks)
        buffer.sufficient.update(task.query for task, good in zip(tasks, verdicts, strict=True) if good)

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
