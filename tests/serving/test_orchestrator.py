"""The orchestrator's order of work, run over a scripted judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from typing import Any

import pytest
from pydantic import BaseModel

from serving.contexts import ContextBuffer
from serving.judging import Settled, Verdict
from serving.orchestrator import DefaultOrchestrator
from serving.running import ToolRunner
from serving.scope import OrchestratorScope
from serving.settings import Limits
from serving.trace import Trace
from toolkit.clarification import ClarifyingQuestion
from toolkit.contexts import PromptAndContext, ToolContexts
from toolkit.documents import InternalContextDocument, UniqueTextDocument
from toolkit.kinds import MAX_PRIORITY, ContextConsumerTool, OrchestratorActivatedTool, ToolDependent
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.threads import DaemonThreadPool
from toolkit.tool import ToolCall

SETTLED = Settled("hu", ("szó",))


class Nothing(BaseModel):
    pass


def document(number: int, text: str = "szöveg") -> UniqueTextDocument:
    return UniqueTextDocument(number, f"d{number}", None, 0, 0, text, 1.0)


class ScriptedJudge:
    """Splits, picks and judges as told; remembers what it was asked."""

    def __init__(
        self,
        queries: Sequence[str] = ("kérdés",),
        picks: Sequence[str] | None = None,
        enough: Sequence[str] = (),
    ) -> None:
        self.queries = list(queries)
        self.picks = picks
        self.enough = set(enough)
        self.judged: list[tuple[str, list[str | None]]] = []

    async def settle(self, question: str, language: str | None) -> Settled:
        return SETTLED

    async def needed_tools(self, question: str, tools: Sequence[Any], settled: Settled) -> list[str]:
        return []

    async def sub_queries(self, question: str, settled: Settled) -> list[str]:
        return self.queries

    async def suitable_tools(self, query: str, tools: Sequence[Any], settled: Settled) -> list[str]:
        return [tool.name for tool in tools] if self.picks is None else list(self.picks)

    async def suffices(self, query: str, context: Sequence[UniqueTextDocument], settled: Settled) -> Verdict:
        self.judged.append((query, [each.text for each in context]))
        return Verdict(query in self.enough, "script")


class Tool(OrchestratorActivatedTool[Nothing]):
    """A tool that does what it was made with, and writes down when it ran."""

    request_class = Nothing

    def __init__(self, name: str, priority: int, result: Any = None, log: list[str] | None = None) -> None:
        self.name = name  # type: ignore[misc]
        self.priority = priority  # type: ignore[misc]
        self.result = result
        self.log = [] if log is None else log

    async def work(self, call: ToolCall) -> ToolExecutionResult | None:
        self.log.append(f"{self.name}>{call.user_prompt}")
        await asyncio.sleep(0.01 if self.name.endswith("late") else 0)
        self.log.append(f"{self.name}<")
        result: ToolExecutionResult | None = self.result(call) if callable(self.result) else self.result
        return result

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        return await self.work(call)


class Consumer(Tool, ContextConsumerTool[Nothing]):
    seen: ToolContexts

    async def execute_with_prior_context(
        self, call: ToolCall, prior_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        self.seen = prior_tool_contexts
        return await self.work(call)


class Dependent(Tool, ToolDependent[Nothing]):
    required: tuple[Tool, ...] = ()
    seen: ToolContexts

    @property
    def required_tools(self) -> frozenset[Any]:
        return frozenset(self.required)

    async def execute_with_required_context(
        self, call: ToolCall, required_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        self.seen = required_tool_contexts
        return await self.work(call)


Run = Callable[..., Any]


@pytest.fixture
async def run() -> AsyncIterator[Run]:
    pool: Executor = DaemonThreadPool(4)

    async def run_tools(
        tools: Sequence[Tool],
        judge: ScriptedJudge | None = None,
        buffer: ContextBuffer | None = None,
        orchestrator: DefaultOrchestrator | None = None,
        limits: Limits | None = None,
    ) -> tuple[ToolExecutionResult | None, DefaultOrchestrator, Trace]:
        trace = Trace()
        runner = ToolRunner(limits or Limits(), pool, trace)
        orchestrator = orchestrator or DefaultOrchestrator()
        scope = OrchestratorScope(tools, judge or ScriptedJudge(), SETTLED, runner, trace)
        orchestrator.begin(scope, buffer)
        result = await orchestrator.execute_with_result(ToolCall("kérdés", domain="d"))
        return result, orchestrator, trace

    yield run_tools
    pool.shutdown(wait=False)


def context(name: str, *documents: UniqueTextDocument, guaranteed: bool = False) -> ToolExecutionResult:
    make = ToolExecutionResult.as_guaranteed_context if guaranteed else ToolExecutionResult.as_context
    return make(name, documents)


def outcomes(trace: Trace) -> list[tuple[str, int, str]]:
    return [(entry["tool"], entry["task"], entry["outcome"]) for entry in trace.to_wire()["tools"]]


async def test_r4_2_equal_priorities_run_in_parallel_and_groups_ascending(run: Run) -> None:
    log: list[str] = []
    tools = [
        Tool("rag", MAX_PRIORITY, log=log),
        Tool("b", 0, log=log),
        Tool("a_late", 0, log=log),
        Tool("c", 5, log=log),
    ]
    result, _, trace = await run(tools)
    assert result is None
    assert log == ["a_late>kérdés", "b>kérdés", "b<", "a_late<", "c>kérdés", "c<", "rag>kérdés", "rag<"]
    assert outcomes(trace) == [
        ("a_late", 1, "NONE"),
        ("b", 1, "NONE"),
        ("c", 1, "NONE"),
        ("rag", 1, "NONE"),
    ]


async def test_r5_3_results_come_in_a_fixed_order_whoever_was_faster(run: Run) -> None:
    tools = [
        Tool("b", 0, context("b", document(1), document(2))),
        Tool("a_late", 0, context("a_late", document(3))),
    ]
    result, orchestrator, _ = await run(tools, ScriptedJudge(["q1", "q2"]))
    assert [(each.task, each.tool_name) for each in orchestrator.buffer.contributions] == [
        (1, "a_late"),
        (1, "b"),
        (2, "a_late"),
        (2, "b"),
    ]
    assert [each.document_id for each in result.documents] == [3, 1, 2]


async def test_r5_3_concurrency_is_bounded(run: Run) -> None:
    running = most = 0

    class Counting(Tool):
        async def execute_with_result(self, call: ToolCall) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1

    await run([Counting(f"t{at}", 0) for at in range(9)], limits=Limits(concurrent_tools=3))
    assert most == 3


async def test_r5_4_the_gate_skips_later_groups_of_a_satisfied_query_alone(run: Run) -> None:
    judge = ScriptedJudge(["q1", "q2"], enough=["q1"])
    log: list[str] = []
    tools = [Tool("early", 0, context("early", document(1, "talált"))), Tool("rag", MAX_PRIORITY, log=log)]
    _, _, trace = await run(tools, judge)
    assert judge.judged == [("q1", ["talált"]), ("q2", ["talált"])]
    assert log == ["rag>q2", "rag<"]
    assert ("rag", 1, "SKIPPED") in outcomes(trace)


async def test_r5_5_a_guaranteed_context_skips_gate_and_retrieval_but_not_other_groups(run: Run) -> None:
    judge = ScriptedJudge()
    log: list[str] = []
    tools = [
        Tool("sure", 0, context("sure", document(1), guaranteed=True)),
        Tool("later", 5, log=log),
        Tool("rag", MAX_PRIORITY, log=log),
    ]
    _, orchestrator, trace = await run(tools, judge)
    assert (judge.judged, log) == ([], ["later>kérdés", "later<"])
    assert orchestrator.buffer.guaranteed_queries == {"kérdés"}
    assert outcomes(trace)[-1] == ("rag", 1, "SKIPPED")


async def test_r5_5_without_a_visible_document_it_does_not_count(run: Run) -> None:
    log: list[str] = []
    hidden = InternalContextDocument.of("belső")
    tools = [Tool("sure", 0, context("sure", hidden, guaranteed=True)), Tool("rag", MAX_PRIORITY, log=log)]
    _, orchestrator, _ = await run(tools)
    assert log == ["rag>kérdés", "rag<"]
    assert orchestrator.buffer.guaranteed_queries == set()


async def test_r5_7_answered_before_answer_before_context_and_ties_by_task_and_name(run: Run) -> None:
    log: list[str] = []
    tools = [
        Tool("a", 0, context("a", document(1))),
        Tool("b", 0, ToolExecutionResult.as_answer("b", [document(2)])),
        Tool("d", 0, ToolExecutionResult.as_answered("d")),
        Tool("c", 0, ToolExecutionResult.as_answered("c")),
        Tool("rag", MAX_PRIORITY, log=log),
    ]
    result, _, trace = await run(tools)
    assert (result.mode, result.tool_name, log) == (ResultMode.ANSWERED, "c", [])
    assert trace.to_wire()["notes"] == [f"{name}: dropped, since c answered" for name in "abd"]


async def test_r4_5_a_consumer_gets_a_read_only_snapshot_of_all_finished_groups(run: Run) -> None:
    inner = InternalContextDocument.of("belső")
    consumer = Consumer("consumer", 10)
    early = Tool("early", 0, lambda call: context("early", document(1), inner))
    await run([early, consumer, Tool("none", 0)], ScriptedJudge(["q1", "q2"]))
    found = (document(1), inner)
    assert dict(consumer.seen) == {
        "1:early": (PromptAndContext("q1", found),),
        "2:early": (PromptAndContext("q2", found),),
    }
    with pytest.raises(TypeError):
        consumer.seen["3:x"] = ()  # type: ignore[index]


async def test_r4_6_r4_7_required_tools_run_before_the_dependent_though_not_picked(run: Run) -> None:
    log: list[str] = []
    base = Tool("base", 0, lambda call: context("base", document(len(call.user_prompt))), log)
    middle = Dependent("middle", 1, lambda call: context("middle", document(9)), log)
    middle.required = (base,)
    top = Dependent("top", 2, None, log)
    top.required = (middle,)
    judge = ScriptedJudge(["q", "qq"], picks=["top"])
    await run([base, middle, top], judge)
    assert [entry for entry in log if ">" in entry] == [
        "base>q", "base>qq", "middle>q", "middle>qq", "top>q", "top>qq",
    ]  # fmt: skip
    assert dict(middle.seen) == {"base": (PromptAndContext("qq", (document(2),)),)}
    assert dict(top.seen) == {"middle": (PromptAndContext("qq", (document(9),)),)}


async def test_r5_2_tools_that_were_not_picked_are_traced(run: Run) -> None:
    _, _, trace = await run(
        [Tool("a", 0), Tool("b", 0), Tool("rag", MAX_PRIORITY)], ScriptedJudge(picks=["b"])
    )
    assert outcomes(trace) == [("a", 1, "SKIPPED"), ("b", 1, "NONE"), ("rag", 1, "NONE")]


async def test_r7_6_a_run_that_goes_on_repeats_no_finished_pair(run: Run) -> None:
    log: list[str] = []
    tools = [
        Tool("a", 0, lambda call: context("a", document(1)), log),
        Tool("b", 1, lambda call: context("b", document(2)), log),
    ]
    _, first, _ = await run(tools)
    result, _, _ = await run(tools, buffer=first.buffer)
    assert [entry for entry in log if ">" in entry] == ["a>kérdés", "b>kérdés"]
    assert [each.document_id for each in result.documents] == [1, 2]


async def test_r5_6_further_hops_never_ask_twice_and_end(run: Run) -> None:
    class Hopping(DefaultOrchestrator):
        max_hops = 3

        async def further_queries(self, call: ToolCall, tasks: Sequence[Any]) -> list[str]:
            return ["kérdés", f"hop {len(tasks)}", f"hop {len(tasks)} "] if len(tasks) < 3 else ["kérdés"]

    _, _, trace = await run([Tool("a", 0)], orchestrator=Hopping())
    assert trace.sub_queries == ["kérdés", "hop 1", "hop 2"]
    assert outcomes(trace) == [("a", 1, "NONE"), ("a", 2, "NONE"), ("a", 3, "NONE")]


async def test_r7_1_a_question_of_a_tool_that_is_not_clarifiable_counts_as_none(run: Run) -> None:
    question = ClarifyingQuestion("q", "Melyik?", ("a", "b"))
    asking = Tool("asking", 0, ToolExecutionResult.needs_clarification(question, "{}", "asking"))
    result, _, trace = await run([asking, Tool("rag", MAX_PRIORITY, context("rag", document(1)))])
    assert [each.document_id for each in result.documents] == [1]
    assert trace.to_wire()["notes"] == ["asking asked a question, which it may not; it counts as None"]
