"""Coordinators: their steps run by routing and orchestrator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from toolkit.contexts import PromptAndContext, ToolContexts
from toolkit.coordination import AgentCoordinator, AgentStep
from toolkit.documents import InternalContextDocument, UniqueTextDocument
from toolkit.emitter import LLM_GENERATION, ProgressEvent
from toolkit.kinds import ContextConsumerTool, OrchestratorActivatedTool, ToolDependent
from toolkit.results import ToolExecutionResult
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]


class Nothing(BaseModel):
    pass


class Base(ChatbotTool[Nothing]):
    request_class = Nothing
    eligible_system = ALL
    seen: list[Any]

    def init(self, services: Any) -> None:
        type(self).seen = []


def document(number: int, text: str) -> UniqueTextDocument:
    return UniqueTextDocument(number, "Lelet", None, 0, 0, text, 1.0)


class Search(Base, OrchestratorActivatedTool[Nothing]):
    """A leaf; what it finds is its prompt."""

    name = "search"
    priority = 5
    executable_instruction = "search: never"
    system_prompt_supplement = "A leletek hitelesek."

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        self.seen.append(call.user_prompt)
        if call.emitter:
            call.emitter.next(ProgressEvent(LLM_GENERATION, "szivárgó szöveg"))
            self.tool_progress_emitter(call.emitter).next(ProgressEvent("LOOKING"))
        if call.user_prompt == "hiba":
            raise RuntimeError("broken")
        await asyncio.sleep(0)
        self.seen.append(f"{call.user_prompt} kész")
        found = [document(len(call.user_prompt), call.user_prompt)]
        return ToolExecutionResult.as_context(self.name, found)


class Weigh(Base, OrchestratorActivatedTool[Nothing], ToolDependent[Nothing]):
    """Gets its children's contexts by tool name."""

    name = "weigh"
    priority = 6
    executable_instruction = "weigh: never"
    required_tools = frozenset()

    def execute_with_required_context(
        self, call: ToolCall, required_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        self.seen.append(required_tool_contexts)
        return ToolExecutionResult.as_context(self.name, [document(100, "mérlegelve")])


class Sum(Base, OrchestratorActivatedTool[Nothing], ContextConsumerTool[Nothing]):
    """Gets what was found before the coordinator too."""

    name = "sum"
    priority = 7
    executable_instruction = "sum: never"
    result: ToolExecutionResult | None = ToolExecutionResult.as_guaranteed_context(
        "sum", [document(200, "összesen")]
    )

    def execute_with_prior_context(
        self, call: ToolCall, prior_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        self.seen.append(prior_tool_contexts)
        return self.result


class Coordinator(Base, AgentCoordinator[Nothing]):
    name = "coordinator"
    executable_instruction = "coordinator: true, ha a lelet kell"
    root: AgentStep | None = None
    system_prompt_supplement = "Részletekből összerakva."

    def decompose(self, call: ToolCall, contexts: ToolContexts) -> AgentStep | None:
        self.seen.append(contexts)
        return self.root


class Late(Coordinator, OrchestratorActivatedTool[Nothing]):
    name = "late"
    priority = 50
    executable_instruction = "late: true, ha a lelet kell"


def tree() -> AgentStep:
    lookups = [AgentStep("egy", "search"), AgentStep("kettő", "search"), AgentStep("hiba", "search")]
    return AgentStep("összegezd", "sum", (AgentStep("mérlegeld", "weigh", lookups),))


def model(**answers: bool) -> ScriptedLlm:
    """Settles, routes, then for the orchestrator: one sub-query, no tool of its own."""
    return ScriptedLlm(
        objects=[
            {"language": "hu", "important_words": []},
            *([answers] if answers else []),
            {"sub_queries": ["lelet?"]},
            *[{}] * 3,
        ],
        texts=["Kész [1]."],
    )


def trace_of(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    (found,) = (event["trace"] for event in events if event["progressStatus"] == "TRACE")
    return dict(found)


def tool_entries(trace: Mapping[str, Any]) -> list[tuple[str, str | None, str]]:
    return [
        (each["tool"], each["startedBy"], each["outcome"])
        for each in trace["tools"]
        if each["outcome"] != "SKIPPED"
    ]


async def test_r6_1_siblings_run_at_once_and_a_parent_after_its_children_with_their_contexts(
    make_app: MakeApp, chat: Ask
) -> None:
    app = make_app(Search, Weigh, Sum, type("C", (Coordinator,), {"root": tree()}))
    events = await chat(app, "lelet", toolName="coordinator", trace=True)
    assert Search.seen == ["egy", "kettő", "hiba", "egy kész", "kettő kész"]
    (required,) = Weigh.seen
    assert dict(required) == {
        "search": (
            PromptAndContext("egy", (document(3, "egy"),)),
            PromptAndContext("kettő", (document(5, "kettő"),)),
        )
    }
    (prior,) = Sum.seen
    assert dict(prior) == {
        "1:weigh": (PromptAndContext("mérlegeld", (document(100, "mérlegelve"),)),),
    }
    trace = trace_of(events)
    assert tool_entries(trace) == [
        ("coordinator", None, "CONTEXT"),
        ("search", "coordinator", "CONTEXT"),
        ("search", "coordinator", "CONTEXT"),
        ("search", "coordinator", "FAILED"),
        ("weigh", "coordinator", "CONTEXT"),
        ("sum", "coordinator", "CONTEXT"),
    ]
    (sources,) = (event["sources"] for event in events if event["progressStatus"] == "SOURCES")
    assert [source["text"] for source in sources] == ["egy", "kettő", "mérlegelve", "összesen"]


async def test_r6_1_steps_report_progress_but_their_text_is_no_answer(make_app: MakeApp, chat: Ask) -> None:
    app = make_app(
        Search, Sum, type("C", (Coordinator,), {"root": AgentStep("a", "sum", (AgentStep("egy", "search"),))})
    )
    events = await chat(app, "lelet", toolName="coordinator")
    assert [event["progressStatus"] for event in events][:3] == [
        "CHAT",
        "QUESTION_ANALYSIS",
        "TOOL_PROGRESS:SEARCH:LOOKING",
    ]
    assert "szivárgó" not in "".join(event.get("content") or "" for event in events)


async def test_r6_1_the_root_may_answer_by_itself(make_app: MakeApp, chat: Ask) -> None:
    answer = ToolExecutionResult.as_answer("sum", [document(1, "Ez a válasz.")])
    root = AgentStep("a", "sum2", (AgentStep("b", "sum2"),))
    answering = type("S", (Sum,), {"name": "sum2", "result": answer, "executable_instruction": "sum2: never"})
    events = await chat(
        make_app(answering, type("C", (Coordinator,), {"root": root})), "lelet", toolName="coordinator"
    )
    assert [event["content"] for event in events if event["progressStatus"] == "ANSWER"] == ["Ez a válasz."]
    (_, prior) = answering.seen
    assert dict(prior) == {"1:sum2": (PromptAndContext("b", answer.documents),)}


async def test_r6_2_r3_12_a_tree_that_cannot_be_run_fails_before_anything_runs(
    make_app: MakeApp, chat: Ask
) -> None:
    for root, reason in (
        (
            AgentStep("a", "sum", (AgentStep("b", "nobody"),)),
            "StepTreeError: a step names the unknown tool 'nobody'",
        ),
        (AgentStep("a", "coordinator"), "StepTreeError: a step names the unknown tool 'coordinator'"),
        ("no step", "StepTreeError: decompose returned no step instead of an AgentStep or None"),
    ):
        app = make_app(Search, Weigh, Sum, type("C", (Coordinator,), {"root": root}))
        trace = trace_of(await chat(app, "lelet", toolName="coordinator", trace=True))
        (entry,) = (each for each in trace["tools"] if each["tool"] == "coordinator")
        assert (entry["outcome"], entry["reason"][: len(reason)]) == ("FAILED", reason)
        assert not any(each["startedBy"] for each in trace["tools"])


async def test_r6_1_r3_10_the_routing_starts_one_and_all_supplements_reach_the_model(
    make_app: MakeApp, chat: Ask
) -> None:
    llm = model(coordinator=True)
    root = AgentStep("egy", "search")
    app = make_app(Search, Weigh, Sum, type("C", (Coordinator,), {"root": root}), llm=llm)
    await chat(app, "lelet")
    (system,) = (each.system_prompt for each in llm.calls if each.method == "stream_text")
    assert system.endswith("coordinator: Részletekből összerakva.\n\nsearch: A leletek hitelesek.")


async def test_r6_1_the_orchestrator_starts_one_with_what_was_found_before(
    make_app: MakeApp, chat: Ask
) -> None:
    root = AgentStep("a", "sum", (AgentStep("kettő", "search"),))
    late = type("L", (Late,), {"root": root})
    events = await chat(make_app(Search, Sum, late), "lelet", trace=True)
    (given,) = late.seen
    before, as_step = Sum.seen
    assert [sorted(contexts) for contexts in (before, given, as_step)] == [
        ["1:search"],
        ["1:search", "1:sum"],
        ["1:search", "1:sum"],
    ]
    assert [each.prompt for each in as_step["1:search"]] == ["lelet", "kettő"]
    entries = [each for each in tool_entries(trace_of(events)) if each[1] == "late"]
    assert entries == [("search", "late", "CONTEXT"), ("sum", "late", "CONTEXT")]


class Private(Base):
    name = "private"
    executable_instruction = "private: never"

    def is_eligible(self, user_data: Mapping[str, Any] | None) -> bool:
        return user_data is not None

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        raise AssertionError("must not run")


async def test_r6_1_r3_3_a_routed_tool_as_a_step_must_be_open_to_the_user(
    make_app: MakeApp, chat: Ask
) -> None:
    root = AgentStep("a", "sum", (AgentStep("b", "private"),))
    app = make_app(Private, Sum, type("C", (Coordinator,), {"root": root}))
    trace = trace_of(await chat(app, "lelet", toolName="coordinator", trace=True))
    assert ("private", "the user is not eligible") in [
        (each["tool"], each["reason"]) for each in trace["tools"]
    ]
    assert dict(Sum.seen[0]) == {}


async def test_r6_2_what_a_step_may_not_do_counts_as_nothing_found(make_app: MakeApp, chat: Ask) -> None:
    delivered = type(
        "D",
        (Sum,),
        {"name": "d", "result": ToolExecutionResult.as_answered("d"), "executable_instruction": "d: no"},
    )
    root = AgentStep("a", "sum", (AgentStep("b", "d"), AgentStep("c", "d")))
    app = make_app(delivered, Sum, type("C", (Coordinator,), {"root": root}))
    trace = trace_of(await chat(app, "lelet", toolName="coordinator", trace=True))
    assert trace["notes"] == ["d: as a step of coordinator it gave ANSWERED, which counts as nothing found"]


async def test_r6_1_r4_8_internal_documents_reach_the_parent_and_no_source(
    make_app: MakeApp, chat: Ask
) -> None:
    inner = ToolExecutionResult.as_context("i", [InternalContextDocument.of("belső")])
    hidden = type("I", (Sum,), {"name": "i", "result": inner, "executable_instruction": "i: no"})
    root = AgentStep("a", "sum", (AgentStep("b", "i"),))
    events = await chat(
        make_app(hidden, Sum, type("C", (Coordinator,), {"root": root})), "lelet", toolName="coordinator"
    )
    assert dict(Sum.seen[0]) == {"1:i": (PromptAndContext("b", inner.documents),)}
    (sources,) = (event["sources"] for event in events if event["progressStatus"] == "SOURCES")
    assert [source["text"] for source in sources] == ["összesen"]
