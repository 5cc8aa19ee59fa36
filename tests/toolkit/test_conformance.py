"""The conformance suites pass for good tools of every kind, and fail for bad ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import pytest
from pydantic import BaseModel

from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.contexts import ToolContexts
from toolkit.discovery import ToolClass
from toolkit.documents import TextAnswer
from toolkit.emitter import ProgressEvent, emit_words
from toolkit.kinds import (
    AsyncTaskTool,
    ClarifiableTool,
    ContextConsumerTool,
    IngestionTool,
    OrchestratorActivatedTool,
    TaskProgress,
    ToolDependent,
)
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.testing.batch_conformance import AsyncTaskToolConformance, IngestionToolConformance
from toolkit.testing.conformance import (
    ChatbotToolConformance,
    ClarifiableToolConformance,
    ContextConsumerToolConformance,
    OrchestratorActivatedToolConformance,
    ToolDependentConformance,
    run_all,
)
from toolkit.testing.harness import ToolHarness
from toolkit.tool import ChatbotTool, ToolCall


class Request(BaseModel):
    ward: str | None = None
    floor: int = 1


class Teller(ChatbotTool[Request]):
    """Delivers its answer by itself."""

    name = "teller"
    domain = "korhaz"
    eligible_system = "his"
    executable_instruction = "teller: x"
    request_class = Request

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        self.tool_progress_emitter(call.emitter).next(ProgressEvent("TELLING"))
        emit_words(call.emitter, f"A kérdés: {call.user_prompt}", delay=0)
        if call.final_callback is not None:
            call.final_callback.on_success(self.name, f"A kérdés: {call.user_prompt}")
        return ToolExecutionResult.as_answered(self.name)


class Lookup(OrchestratorActivatedTool[Request]):
    name = "lookup"
    executable_instruction = "lookup: x"
    request_class = Request
    priority = 0

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.as_context(self.name, TextAnswer.as_set("72 éves"))


class Consumer(ContextConsumerTool[Request], OrchestratorActivatedTool[Request]):
    name = "consumer"
    executable_instruction = "consumer: x"
    request_class = Request
    priority = 5

    def execute_with_prior_context(self, call: ToolCall, prior_tool_contexts: ToolContexts) -> None:
        return None


class Risk(ToolDependent[Request], OrchestratorActivatedTool[Request]):
    name = "risk"
    executable_instruction = "risk: x"
    request_class = Request
    priority = 5
    required: AbstractSet[Lookup] = frozenset()

    @property
    def required_tools(self) -> AbstractSet[OrchestratorActivatedTool[Any]]:
        return self.required

    def init(self, services: Services) -> None:
        self.required = frozenset({services.get(Lookup)})

    def execute_with_required_context(self, call: ToolCall, required_tool_contexts: ToolContexts) -> None:
        return None


class Asker(ClarifiableTool[Request]):
    name = "asker"
    executable_instruction = "asker: x"
    request_class = Request
    priority = 0

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return self._go_on(Request())

    def execute_with_clarification(
        self, session: ClarificationSession, call: ToolCall
    ) -> ToolExecutionResult:
        request = Request.model_validate_json(session.partial_request_json)
        return self._go_on(request.model_copy(update={"ward": session.pending_answer}))

    def _go_on(self, request: Request) -> ToolExecutionResult:
        if request.ward is None:
            question = ClarifyingQuestion("ward", "Melyik osztály?", ("A", "B"))
            return ToolExecutionResult.needs_clarification(question, request.model_dump_json(), self.name)
        return ToolExecutionResult.as_guaranteed_context(self.name, TextAnswer.as_set(request.ward))


class Report:
    def __init__(self, error: str | None) -> None:
        self.status = "failed" if error else "published"
        self.error = error


class Fill(IngestionTool[Request]):
    name = "fill"
    request_class = Request

    async def execute_ingestion(self, request: Request) -> Report:
        return Report("no such ward" if request.ward == "none" else None)


class Export(AsyncTaskTool[Request]):
    name = "export"
    task_type = "export"
    request_class = Request

    def run(self, request: Request, progress: TaskProgress) -> dict[str, Any]:
        progress.report(1, 1)
        return {"ward": request.ward}


class TestTeller(ChatbotToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Teller


class TestLookup(OrchestratorActivatedToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Lookup


class TestConsumer(ContextConsumerToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Consumer


class TestRisk(ToolDependentConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Risk

    @pytest.fixture
    def other_tools(self) -> Sequence[ToolClass]:
        return (Lookup,)


class TestAsker(ClarifiableToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Asker

    @pytest.fixture
    def answers(self) -> Mapping[str, str]:
        return {"ward": "B"}


class TestFill(IngestionToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Fill

    @pytest.fixture
    def failing_parameters(self) -> Mapping[str, Any]:
        return {"ward": "none"}


class TestExport(AsyncTaskToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return Export


class Remembers(Teller):
    def execute_with_result(self, call: ToolCall) -> None:
        self.prompt = call.user_prompt


class TalksForOthers(Teller):
    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        if call.emitter is not None:
            call.emitter.next(ProgressEvent("DONE"))
        return ToolExecutionResult.as_answered("somebody_else")


class OpenSchema(Teller):
    def request_json_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"ward": {"type": "string"}}, "additionalProperties": False}


class AsksForEver(Asker):
    def _go_on(self, request: Request) -> ToolExecutionResult:
        return super()._go_on(Request())


class Asks(Teller):
    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.needs_clarification(ClarifyingQuestion("q", "?"), "{}", self.name)


QUESTIONS = ("Hol?",)


def checked(tool_class: ToolClass, suite: Any, test: str, **more: Any) -> None:
    with ToolHarness(tool_class) as harness:
        tool = harness.tool(tool_class)
        given = {"harness": harness, "tool": tool, "questions": QUESTIONS, **more}
        method = getattr(suite(), test)
        names = method.__code__.co_varnames[1 : method.__code__.co_argcount]
        if "runs" in names:
            given["runs"] = run_all(harness, tool, QUESTIONS)
        method(**{name: given[name] for name in names})


@pytest.mark.parametrize(
    ("tool_class", "suite", "test", "complaint"),
    [
        (Remembers, ChatbotToolConformance, "test_r2_3_it_keeps_nothing_of_a_request", "prompt"),
        (
            TalksForOthers,
            ChatbotToolConformance,
            "test_r3_9_it_gives_a_result_of_its_own_or_none",
            "somebody_else",
        ),
        (TalksForOthers, ChatbotToolConformance, "test_r3_11_it_sends_progress_under_its_own_name", "DONE"),
        (OpenSchema, ChatbotToolConformance, "test_r3_2_the_schema_is_strict", "does not require all"),
        (
            Asks,
            ChatbotToolConformance,
            "test_r3_9_it_gives_a_result_of_its_own_or_none",
            "only a clarifiable",
        ),
    ],
)
def test_a_bad_tool_fails(tool_class: ToolClass, suite: Any, test: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        checked(tool_class, suite, test)


def test_r7_3_a_tool_that_asks_for_ever_fails() -> None:
    test = "test_r7_3_it_comes_to_an_end_once_it_is_answered"
    with pytest.raises(AssertionError, match="still asks after 20 answers"):
        checked(AsksForEver, ClarifiableToolConformance, test, answers={})
