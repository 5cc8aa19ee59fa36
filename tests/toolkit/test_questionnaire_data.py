"""Tools whose questions come out of data, or out of what earlier tools found."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from toolkit.clarification import ClarificationSession
from toolkit.contexts import PromptAndContext, ToolContexts
from toolkit.discovery import ToolClass
from toolkit.documents import TextAnswer
from toolkit.execution import wait_for
from toolkit.llm.drawing import draw_request
from toolkit.questionnaire import AbstractClarifiableContextConsumerTool, AbstractClarifiableTool
from toolkit.questions import Options, Question
from toolkit.results import ToolExecutionResult
from toolkit.testing.conformance import ClarifiableToolConformance, ContextConsumerToolConformance
from toolkit.testing.harness import run_tool
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ToolCall


def begun(tool: ToolClass, drawn: Mapping[str, Any] | None = None, **options: Any) -> Any:
    llm = ScriptedLlm({tool.name: drawn or {}})
    return run_tool(tool, "?", llm=llm, **options).result


def resumed(partial: str, question: str, answer: str, tool: ToolClass, **options: Any) -> Any:
    session = ClarificationSession(partial, question, answer)
    return run_tool(tool, "?", session=session, **options).result


def text_of(result: ToolExecutionResult | None) -> str | None:
    assert result is not None
    (document,) = result.documents
    return document.text


class PersonRequest(BaseModel):
    name: str | None = None
    person: str | None = None


class PersonTool(AbstractClarifiableTool[PersonRequest]):
    """Options out of data, in plain methods."""

    name = "person"
    eligible_system = ALL
    priority = 0
    request_class = PersonRequest
    executable_instruction = "person: true if somebody is named; false otherwise"
    people = ("Kovács Ilona", "Kovács András", "Tóth Eszter")

    def init(self, services: Any) -> None:
        self.questions = (Question("person", "Kicsoda?", self.named),)
        super().init(services)

    def named(self, request: PersonRequest, call: ToolCall) -> Options:
        assert threading.current_thread() is not threading.main_thread()
        return {each: f"{each}, orvos" for each in self.people if each.startswith(request.name or "?")}

    def execute_with_request(self, request: PersonRequest, call: ToolCall) -> ToolExecutionResult | None:
        again = wait_for(draw_request(self.llm, self, call))
        assert again is not None
        found = TextAnswer.as_set(request.person)
        return ToolExecutionResult.as_context(self.name, found) if request.person else None


class AsyncPersonTool(PersonTool):
    """The same in `async` ones."""

    async def named(self, request: PersonRequest, call: ToolCall) -> Options:  # type: ignore[override]
        await asyncio.sleep(0)
        return [each for each in self.people if each.startswith(request.name or "?")]

    async def execute_with_request(  # type: ignore[override]
        self, request: PersonRequest, call: ToolCall
    ) -> ToolExecutionResult | None:
        found = TextAnswer.as_set(request.person)
        return ToolExecutionResult.as_context(self.name, found) if request.person else None


@pytest.mark.parametrize(
    ("tool", "options"),
    [
        (PersonTool, ("Kovács Ilona, orvos", "Kovács András, orvos")),
        (AsyncPersonTool, ("Kovács Ilona", "Kovács András")),
    ],
)
def test_r7_9_a_name_that_fits_several_is_asked_about(tool: type[PersonTool], options: Sequence[str]) -> None:
    llm = ScriptedLlm({"person": {"name": "Kovács"}})
    first = run_tool(tool, "?", llm=llm).result
    assert first is not None
    assert first.question is not None
    assert first.question.options == options
    second = resumed(first.partial_json or "", "person", options[1], tool, llm=llm)
    assert text_of(second) == "Kovács András"


@pytest.mark.parametrize("tool", [PersonTool, AsyncPersonTool])
def test_r7_9_one_that_fits_one_is_taken_and_one_that_fits_none_is_not_asked_about(
    tool: type[PersonTool],
) -> None:
    assert text_of(begun(tool, {"name": "Tóth"})) == "Tóth Eszter"
    assert begun(tool, {"name": "Nagy"}) is None


def test_r7_9_data_that_changed_meanwhile_is_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = begun(AsyncPersonTool, {"name": "Kovács"})
    monkeypatch.setattr(AsyncPersonTool, "people", ("Kovács Ilona", "Kovács Béla"))
    again = resumed(first.partial_json, "person", "Kovács András", AsyncPersonTool)
    assert again.question.options == ("Kovács Ilona", "Kovács Béla")


class ChoiceRequest(BaseModel):
    document: str | None = None


class ChoiceTool(AbstractClarifiableContextConsumerTool[ChoiceRequest]):
    name = "choice"
    eligible_system = ALL
    priority = 10
    request_class = ChoiceRequest
    executable_instruction = "choice: true if a document is meant; false otherwise"

    def init(self, services: Any) -> None:
        self.questions = (Question("document", "Melyik?", self.found),)
        super().init(services)

    async def draw(self, call: ToolCall) -> ChoiceRequest:
        return ChoiceRequest()

    def found(self, request: ChoiceRequest, call: ToolCall, prior_tool_contexts: ToolContexts) -> Options:
        entries = [entry for entries in prior_tool_contexts.values() for entry in entries]
        return [each.text or "" for entry in entries for each in entry.context]

    def execute_with_request(
        self, request: ChoiceRequest, call: ToolCall, prior_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        count = len(self.found(request, call, prior_tool_contexts))
        found = TextAnswer.as_set(f"{request.document} of {count}")
        return ToolExecutionResult.as_context(self.name, found) if request.document else None


def test_r7_7_a_context_consumer_asks_out_of_the_contexts_and_is_resumed_with_them() -> None:
    contexts = {"1:a": [PromptAndContext("?", (TextAnswer.of("Egy"), TextAnswer.of("Kettő")))]}
    first = begun(ChoiceTool, contexts=contexts)
    assert first.question.options == ("Egy", "Kettő")
    second = resumed(first.partial_json, "document", "Kettő", ChoiceTool, contexts=contexts)
    assert text_of(second) == "Kettő of 2"
    assert begun(ChoiceTool) is None


class TestPersonConformance(ClarifiableToolConformance):
    @pytest.fixture(params=[PersonTool, AsyncPersonTool])
    def tool_class(self, request: pytest.FixtureRequest) -> ToolClass:
        tool: ToolClass = request.param
        return tool

    @pytest.fixture
    def llm(self) -> ScriptedLlm:
        return ScriptedLlm({"person": {"name": "Kovács"}})


class TestChoiceConformance(ContextConsumerToolConformance, ClarifiableToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return ChoiceTool
