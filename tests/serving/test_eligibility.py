"""Who is asked before the routing, and what the routing never sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from toolkit.documents import TextAnswer
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]


class Nothing(BaseModel):
    pass


class Open(ChatbotTool[Nothing]):
    name: ClassVar[str] = "open"
    eligible_system = ALL
    request_class = Nothing
    executable_instruction: ClassVar[str] = "open: true if the question asks for the open tool"
    calls: ClassVar[list[ToolCall]] = []

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        self.calls.append(call)
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(f"{self.name} answers"))


class Closed(Open):
    name = "closed"
    executable_instruction = "closed: true if the question asks for the closed tool"

    def is_eligible(self, user_data: Mapping[str, Any] | None) -> bool:
        return user_data is not None


class Broken(Open):
    name = "broken"
    executable_instruction = "broken: true if the question asks for the broken tool"

    async def is_eligible(self, user_data: Mapping[str, Any] | None) -> bool:
        raise ZeroDivisionError("no such user")


class Inner(OrchestratorActivatedTool[Nothing]):
    name = "inner"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "inner: true if the question asks for the inner tool"

    def is_eligible(self, user_data: Mapping[str, Any] | None) -> bool:
        raise AssertionError("asked of a tool that an orchestrator starts")

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set("inner answers"))


def said(events: list[dict[str, Any]]) -> list[str]:
    return [event["content"] for event in events if event["progressStatus"] == "ANSWER"]


def outcomes(events: list[dict[str, Any]]) -> dict[str, str | None]:
    (trace,) = (event["trace"] for event in events if event["progressStatus"] == "TRACE")
    return {each["tool"]: each["reason"] or each["outcome"] for each in trace["tools"]}


async def test_r3_3_is_eligible_is_asked_before_the_routing(
    make_app: MakeApp, chat: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    settled = {"language": "en", "important_words": ["open", "tool"]}
    llm = ScriptedLlm(objects=[settled, {"open": True}])
    app = make_app(Open, Closed, Broken, llm=llm)
    events = await chat(app, "Start the open tool", trace=True)
    assert said(events) == ["open answers"]
    routing = llm.calls[1].system_prompt
    assert [name in routing for name in ("open: true", "closed: true", "broken: true")] == [
        True,
        False,
        False,
    ]
    assert outcomes(events) == {
        "open": "ANSWER",
        "closed": "the user is not eligible",
        "broken": "is_eligible failed: ZeroDivisionError",
    }
    assert "tool broken: is_eligible failed" in caplog.messages


async def test_r3_8_r3_7_language_and_words_are_known_when_a_tool_runs(make_app: MakeApp, chat: Ask) -> None:
    Open.calls.clear()
    await chat(make_app(Open), "Start the open tool", systems=["web"], language="en")
    (call,) = Open.calls
    assert (call.user_prompt, call.domain, call.systems) == ("Start the open tool", "hospital", ("web",))
    assert (call.user_lang, call.important_words) == ("angol", ("Start", "open", "tool"))
    assert call.emitter is not None
    assert call.final_callback is not None


async def test_r4_1_the_routing_neither_sees_nor_asks_an_orchestrators_tool(
    make_app: MakeApp, chat: Ask
) -> None:
    events = await chat(make_app(Inner), "Start the inner tool", trace=True)
    assert said(events) == ["inner answers"]
    assert "TOOL_ROUTING" not in [event["progressStatus"] for event in events]
    (trace,) = (event["trace"] for event in events if event["progressStatus"] == "TRACE")
    assert (trace["orchestrator"], trace["tools"][0]["task"]) == ("default_orchestrator", 1)
