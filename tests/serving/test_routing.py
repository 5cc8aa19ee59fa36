"""Routed tools, the orchestrator and the final prompt in one request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from serving.orchestrator import DefaultOrchestrator
from toolkit.clarification import ClarifyingQuestion
from toolkit.contexts import ToolContexts
from toolkit.documents import InternalContextDocument, UniqueTextDocument
from toolkit.errors import LlmUnavailableError
from toolkit.kinds import MAX_PRIORITY, OrchestratorActivatedTool, ToolDependent
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]


class Nothing(BaseModel):
    pass


def document(number: int, text: str) -> UniqueTextDocument:
    return UniqueTextDocument(number, "Irat", None, 0, 0, text, 1.0)


class Routed(ChatbotTool[Nothing]):
    name = "first"
    request_class = Nothing
    executable_instruction = "first: true, ha parkolás kell"
    result: ToolExecutionResult | None = ToolExecutionResult.as_context("first", [document(1, "Első irat.")])

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        return self.result


class Second(Routed):
    name = "second"
    executable_instruction = "second: true, ha parkolás kell"


def made(base: type[Any], **fields: Any) -> type[Any]:
    return type(base.__name__, (base,), fields)


QUESTION = "Hol van parkolás?"


def of(events: Sequence[dict[str, Any]], status: str, field: str) -> Any:
    (event,) = (each for each in events if each["progressStatus"] == status)
    return event[field]


async def test_r4_3a_the_context_of_routed_tools_joins_the_orchestrators(
    make_app: MakeApp, chat: Ask
) -> None:
    llm = ScriptedLlm(
        objects=[
            {"language": "hu", "important_words": ["parkolás"]},
            {"first": True, "second": True},
            {"sub_queries": [QUESTION]},
            {"rag_retrieval": True},
            {"further_queries": []},
        ],
        texts=["Északon."],
    )
    events = await chat(make_app(Routed, made(Second, result=None), llm=llm), QUESTION, trace=True)
    (prompt,) = (call.user_prompt for call in llm.calls if call.method == "stream_text")
    assert "] Első irat.\n" in prompt
    assert "] A betegek a kórház északi oldalán parkolhatnak.\n" in prompt
    trace = of(events, "TRACE", "trace")
    assert [(each["tool"], each["task"], each["outcome"]) for each in trace["tools"]] == [
        ("first", None, "CONTEXT"),
        ("second", None, "NONE"),
        ("rag_retrieval", 1, "CONTEXT"),
    ]


@pytest.mark.parametrize("mode", ["ANSWER", "ANSWERED"])
async def test_r4_3a_an_answer_of_a_routed_tool_ends_before_the_orchestrator(
    make_app: MakeApp, chat: Ask, mode: str
) -> None:
    result = (
        ToolExecutionResult.as_answer("second", [document(1, "Kész.")])
        if mode == "ANSWER"
        else ToolExecutionResult.as_answered("second")
    )
    events = await chat(make_app(Routed, made(Second, result=result)), QUESTION, trace=True)
    trace = of(events, "TRACE", "trace")
    assert (trace["answeredBy"], trace["orchestrator"]) == ("second", None)
    assert [event.get("content") for event in events if event["progressStatus"] == "ANSWER"] == (
        ["Kész."] if mode == "ANSWER" else []
    )


async def test_r4_3a_a_routed_tool_that_asks_counts_as_none(make_app: MakeApp, chat: Ask) -> None:
    question = ClarifyingQuestion("q", "Melyik?", ("a",))
    asking = ToolExecutionResult.needs_clarification(question, "{}", "first")
    events = await chat(make_app(made(Routed, result=asking)), QUESTION, trace=True)
    trace = of(events, "TRACE", "trace")
    assert trace["notes"] == ["first asked a question, which it may not; it counts as None"]
    assert "A betegek a kórház északi oldalán parkolhatnak." in str(of(events, "SOURCES", "sources"))


async def test_r3_10_supplements_once_in_a_fixed_order_behind_the_domains_prompt(
    make_app: MakeApp, chat: Ask, tmp_path: Path
) -> None:
    (tmp_path / "hu").mkdir()
    (tmp_path / "hu" / "hospital.md").write_text("Egy kórház tudástára ez.\n", "utf-8")
    tools = [
        made(Second, system_prompt_supplement="Második."),
        made(Routed, system_prompt_supplement="Első."),
        made(
            Routed,
            name="silent",
            executable_instruction="silent: x",
            result=None,
            system_prompt_supplement="Néma.",
        ),
    ]
    routing = {"first": True, "second": True, "silent": True}
    llm = ScriptedLlm(
        objects=[
            {"language": "hu", "important_words": []},
            routing,
            {"sub_queries": [QUESTION]},
            {"rag_retrieval": True},
            {"further_queries": []},
        ],
        texts=["Északon [1]."],
    )
    await chat(make_app(*tools, llm=llm, domain_prompts=tmp_path), QUESTION)
    (system,) = (call.system_prompt for call in llm.calls if call.method == "stream_text")
    assert system.endswith("\n\nEgy kórház tudástára ez.\n\nfirst: Első.\n\nsecond: Második.")


class OwnRetrieval(OrchestratorActivatedTool[Nothing]):
    name = "own_retrieval"
    domain = "hospital"
    eligible_system = ALL
    priority = MAX_PRIORITY
    request_class = Nothing
    executable_instruction = "own_retrieval: true"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.as_context(
            self.name, [document(len(call.user_prompt), f"{call.user_prompt} Itt parkolás.")]
        )


async def test_r4_2_a_domains_own_fallback_takes_the_place_of_the_general_one(
    make_app: MakeApp, chat: Ask
) -> None:
    app = make_app(OwnRetrieval)
    tools = {
        domain: [
            each["tool"]
            for each in of(await chat(app, QUESTION, domain, trace=True), "TRACE", "trace")["tools"]
        ]
        for domain in ("hospital", "english")
    }
    assert tools == {"hospital": ["own_retrieval"], "english": ["rag_retrieval"]}


def asking_on(*further: dict[str, Any] | Exception) -> ScriptedLlm:
    return ScriptedLlm(
        objects=[
            {"language": "hu", "important_words": []},
            {"sub_queries": ["Hol van parkolás?"]},
            {"own_retrieval": True},
            *further,
        ],
        texts=["Ott [1]."],
    )


async def test_r5_6_a_model_asks_on_from_what_was_found_up_to_the_set_number_of_hops(
    make_app: MakeApp, chat: Ask
) -> None:
    llm = asking_on(
        {"further_queries": ["Mennyibe kerül?", "Hol van parkolás?"]},
        {"own_retrieval": True},
        {"further_queries": ["Meddig?"]},
        {"own_retrieval": True},
    )
    trace = of(
        await chat(make_app(OwnRetrieval, llm=llm, limits={"hops": 2}), QUESTION, trace=True),
        "TRACE",
        "trace",
    )
    assert trace["subQueries"] == ["Hol van parkolás?", "Mennyibe kerül?", "Meddig?"]
    further = [call.system_prompt for call in llm.calls if "Eddig ezekre" in call.system_prompt]
    assert "- Hol van parkolás?\n- Mennyibe kerül?\n" in further[1]
    assert "Mennyibe kerül? Itt parkolás." in further[1]


async def test_r5_6_no_hop_is_asked_for_when_none_is_set_or_the_model_fails(
    make_app: MakeApp, chat: Ask
) -> None:
    for llm, hops, note in (
        (asking_on(), 0, []),
        (
            asking_on(LlmUnavailableError("gone")),
            1,
            ["the model failed, so text matching decided: LlmUnavailableError: gone"],
        ),
    ):
        app = make_app(OwnRetrieval, llm=llm, limits={"hops": hops})
        trace = of(await chat(app, QUESTION, trace=True), "TRACE", "trace")
        assert (trace["subQueries"], trace["notes"]) == (["Hol van parkolás?"], note)


class Careful(DefaultOrchestrator):
    """Replaces steps of the template singly."""

    name = "careful"
    domain = "hospital"
    eligible_system = ALL

    async def split(self, call: ToolCall) -> list[str]:
        return [call.user_prompt, "Mennyibe kerül a parkolás?"]

    async def further_queries(self, call: ToolCall, tasks: Sequence[Any]) -> list[str]:
        return ["Meddig nyitva?"]


async def test_r4_3_r5_8_an_orchestrator_replaces_single_steps_and_the_trace_tells_all(
    make_app: MakeApp, chat: Ask
) -> None:
    events = await chat(make_app(Careful, OwnRetrieval), QUESTION, trace=True)
    trace = of(events, "TRACE", "trace")
    for entry in trace["tools"]:
        assert entry.pop("seconds") >= 0
    found = {"tool": "own_retrieval", "startedBy": None, "outcome": "CONTEXT", "documents": 1, "reason": None}
    assert trace == {
        "question": QUESTION,
        "language": "hu",
        "importantWords": ["parkolás"],
        "generation": 1,
        "orchestrator": "careful",
        "answeredBy": "quotes",
        "subQueries": [QUESTION, "Mennyibe kerül a parkolás?", "Meddig nyitva?"],
        "tools": [{**found, "task": task} for task in (1, 2, 3)],
        "gates": [],
        "documents": {"kept": 3, "dropped": []},
        "notes": [],
    }
    assert "TRACE" not in [event["progressStatus"] for event in await chat(make_app(), QUESTION)]


class Configured(Routed):
    name = "configured"
    executable_instruction = "configured: never"

    def init(self, services: Services) -> None:
        self.greeting = services.settings("configured")["greeting"]

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.as_answer(self.name, [document(1, self.greeting)])


async def test_r2_2_settings_of_tools_come_from_the_environment(
    make_app: MakeApp, chat: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUDASTAR_TOOLS__CONFIGURED__GREETING", "Jó napot!")
    events = await chat(make_app(Configured), QUESTION, toolName="configured")
    assert of(events, "ANSWER", "content") == "Jó napot!"


async def test_r9_5_r4_8_an_answer_is_its_public_documents_joined_in_their_order(
    make_app: MakeApp, chat: Ask
) -> None:
    parts = [document(2, "Második"), InternalContextDocument.of("belső"), document(1, "Első")]
    for content_type, content in ((None, "Második\nElső"), ("BASE64_PDF", "MásodikElső")):
        result = ToolExecutionResult.as_answer("first", parts, content_type)
        events = await chat(make_app(made(Routed, result=result)), QUESTION, toolName="first")
        (answer,) = (each for each in events if each["progressStatus"] == "ANSWER")
        assert (answer["content"], answer["contentType"]) == (content, content_type)


class Fallback(OrchestratorActivatedTool[Nothing], ToolDependent[Nothing]):
    """Has a way of its own when it is started without those that it requires."""

    name = "fallback"
    eligible_system = ALL
    priority = 3
    request_class = Nothing
    executable_instruction = "fallback: never"

    def init(self, services: Services) -> None:
        self.own = services.get(OwnRetrievalBefore)

    @property
    def required_tools(self) -> frozenset[Any]:
        return frozenset({self.own})

    def execute_with_required_context(self, call: ToolCall, required_tool_contexts: ToolContexts) -> None:
        raise AssertionError("started by its name, it has no contexts")

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.as_answer(self.name, [document(1, "Magamtól.")])


class OwnRetrievalBefore(OwnRetrieval):
    name = "before"
    priority = 1
    executable_instruction = "before: never"


async def test_r4_7_a_dependent_tool_started_by_name_runs_without_contexts(
    make_app: MakeApp, chat: Ask
) -> None:
    events = await chat(make_app(OwnRetrievalBefore, Fallback), QUESTION, toolName="fallback")
    assert of(events, "ANSWER", "content") == "Magamtól."


async def test_r5_5_a_routed_tool_that_vouches_spares_the_retrieval(make_app: MakeApp, chat: Ask) -> None:
    sure = ToolExecutionResult.as_guaranteed_context("first", [document(1, "A parkolás ingyenes.")])
    trace = of(await chat(make_app(made(Routed, result=sure)), QUESTION, trace=True), "TRACE", "trace")
    assert [(each["tool"], each["outcome"], each["reason"]) for each in trace["tools"]] == [
        ("first", "CONTEXT", None),
        ("rag_retrieval", "SKIPPED", "a tool vouches for the context"),
    ]
