"""Checks that any tool of the chat must pass, to be run by the tests of its plugin.

    class TestDepartmentInfo(ChatbotToolConformance):
        @pytest.fixture
        def tool_class(self):
            return DepartmentInfo

Give further fixtures where the tool needs them: other tools, a script for the model, a store, questions. Take
the class of the tool's kind; a tool of several kinds takes several.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolkit.clarification import ClarificationSession
from toolkit.contexts import NO_CONTEXTS
from toolkit.discovery import ToolClass
from toolkit.documents import UniqueTextDocument
from toolkit.emitter import LLM_GENERATION, SEGMENT_BREAK
from toolkit.kinds import (
    MAX_PRIORITY,
    ClarifiableContextConsumerTool,
    ClarifiableTool,
    ContextConsumerTool,
    OrchestratorActivatedTool,
    ToolDependent,
)
from toolkit.knowledge import KnowledgeBase
from toolkit.llm.assistant import LlmAssistant
from toolkit.parameters import MissingValueError, plain_parameters, validated_parameters
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.testing.harness import ToolHarness, ToolRun
from toolkit.testing.knowledge import MemoryKnowledgeBase
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ChatbotTool, ToolCall

_MOST_QUESTIONS = 20
"""Rounds of questions after which a tool is held to ask for ever."""


class ToolConformance:
    """Common ground: override `tool_class`, and what else the tool needs."""

    @pytest.fixture
    def tool_class(self) -> ToolClass:
        """The class to be checked."""
        raise NotImplementedError("override the fixture tool_class with the tool's class")

    @pytest.fixture
    def other_tools(self) -> Sequence[ToolClass]:
        """Tools that it takes in `init`."""
        return ()

    @pytest.fixture
    def llm(self) -> LlmAssistant:
        """The model; by default one that draws nothing from any prompt."""
        return ScriptedLlm()

    @pytest.fixture
    def knowledge(self) -> KnowledgeBase:
        """The stores; by default none."""
        return MemoryKnowledgeBase()

    @pytest.fixture
    def settings(self) -> Mapping[str, Mapping[str, Any]]:
        """The settings by section."""
        return {}

    @pytest.fixture
    def questions(self) -> Sequence[str]:
        """Questions to run the tool with; those that it serves are the most telling."""
        return ("Hol van a sebészet?", "Who is Dobó?", "")

    @pytest.fixture
    def harness(
        self,
        tool_class: ToolClass,
        other_tools: Sequence[ToolClass],
        llm: LlmAssistant,
        knowledge: KnowledgeBase,
        settings: Mapping[str, Mapping[str, Any]],
    ) -> Iterator[ToolHarness]:
        """The tool and the others, loaded; fails with the reason when one would be left out."""
        with ToolHarness(
            *other_tools, tool_class, llm=llm, knowledge=knowledge, settings=settings
        ) as harness:
            yield harness

    @pytest.fixture
    def tool(self, harness: ToolHarness, tool_class: ToolClass) -> ChatbotTool[Any]:
        """The tool itself."""
        return harness.tool(tool_class)

    def test_r2_it_is_loaded_without_a_warning(self, harness: ToolHarness, tool: ChatbotTool[Any]) -> None:
        own = [each for each in harness.registry.report.warnings if f"{tool.name!r}" in each]
        assert not own, "; ".join(own)


class ChatbotToolConformance(ToolConformance):
    """For every tool that takes part in the chat."""

    @pytest.fixture
    def runs(
        self, harness: ToolHarness, tool: ChatbotTool[Any], questions: Sequence[str]
    ) -> Sequence[ToolRun]:
        """The tool run with all questions, in parallel."""
        return run_all(harness, tool, questions)

    def test_r3_2_the_schema_is_strict(self, tool: ChatbotTool[Any]) -> None:
        schema = tool.request_json_schema()
        Draft202012Validator.check_schema(schema)
        for where, each in _objects(schema, tool.name):
            fields = list(each.get("properties", {}))
            assert each.get("additionalProperties") is False, f"{where} allows further properties"
            assert sorted(each.get("required", [])) == sorted(fields), (
                f"{where} does not require all its fields"
            )

    def test_r3_2_a_request_of_nulls_is_understood(self, tool: ChatbotTool[Any]) -> None:
        nulls = dict.fromkeys(tool.request_class.model_fields)
        try:
            request = validated_parameters(tool.request_class, nulls)
        except MissingValueError:
            return
        again = validated_parameters(tool.request_class, plain_parameters(request))
        assert again == request, "a request changes when it is written as JSON and read again"

    def test_r3_9_it_gives_a_result_of_its_own_or_none(
        self, tool: ChatbotTool[Any], runs: Sequence[ToolRun]
    ) -> None:
        for run in runs:
            _check_result(tool, run.result)

    def test_r3_11_it_sends_progress_under_its_own_name(
        self, tool: ChatbotTool[Any], runs: Sequence[ToolRun]
    ) -> None:
        reserved = {LLM_GENERATION, SEGMENT_BREAK}
        own = f"TOOL_PROGRESS:{tool.name.upper()}:"
        sent = {status for run in runs for status in run.emitter.statuses} - reserved
        foreign = [status for status in sent if not status.startswith(own)]
        assert not foreign, f"statuses {sorted(foreign)} must go through tool_progress_emitter"

    def test_r9_6_the_streamed_text_is_the_text_of_the_callback(self, runs: Sequence[ToolRun]) -> None:
        for run in runs:
            assert SEGMENT_BREAK not in run.emitter.statuses[-1:], (
                "a segment break must not be the last event"
            )
            if run.emitter.segments and run.callback.responses:
                streamed = "".join(run.emitter.segments)
                assert streamed == run.callback.responses[-1][1], (
                    "the callback must get the plain concatenation"
                )

    def test_r2_3_it_keeps_nothing_of_a_request(
        self, harness: ToolHarness, tool: ChatbotTool[Any], questions: Sequence[str]
    ) -> None:
        before = dict(vars(tool))
        for each in questions:
            asyncio.run(harness.run(tool, call_for(tool, each)))
        changed = [name for name, value in vars(tool).items() if before.get(name, self) is not value]
        assert not changed, f"attributes {changed} were set by a request; keep such values in local variables"

    def test_r3_11_it_runs_without_emitter_and_callback(
        self, harness: ToolHarness, tool: ChatbotTool[Any], questions: Sequence[str]
    ) -> None:
        for each in questions:
            _check_result(tool, asyncio.run(harness.run_silently(tool, call_for(tool, each))))


class OrchestratorActivatedToolConformance(ChatbotToolConformance):
    """For tools that an orchestrator starts."""

    def test_r4_1_it_has_a_priority(self, tool: ChatbotTool[Any]) -> None:
        assert isinstance(tool, OrchestratorActivatedTool)
        assert type(tool.priority) is int
        assert tool.priority <= MAX_PRIORITY


class ContextConsumerToolConformance(OrchestratorActivatedToolConformance):
    """For tools that work on prior contexts; they are run with none."""

    def test_r4_5_it_refuses_to_run_without_contexts(self, tool: ChatbotTool[Any]) -> None:
        assert isinstance(tool, ContextConsumerTool)
        with pytest.raises(NotImplementedError):
            tool.execute_with_result(call_for(tool, "x"))


class ToolDependentConformance(OrchestratorActivatedToolConformance):
    """For tools that need others; they are run with no contexts, as when started by name."""

    def test_r4_6_it_requires_tools_that_run_before_it(
        self, harness: ToolHarness, tool: ChatbotTool[Any]
    ) -> None:
        assert isinstance(tool, ToolDependent)
        assert isinstance(tool, OrchestratorActivatedTool)
        assert tool.required_tools, "required_tools is empty; take the tools in init"
        for each in tool.required_tools:
            assert each in harness.registry.tools, f"{each.name} is not the loaded instance"
            assert each.priority < tool.priority, f"{each.name} must have a smaller priority"


class ClarifiableToolConformance(OrchestratorActivatedToolConformance):
    """For tools that ask. Override `answers`, else options are answered by the first one, texts by `x`."""

    @pytest.fixture
    def answers(self) -> Mapping[str, str]:
        """Answers by question id."""
        return {}

    def test_r7_3_it_comes_to_an_end_once_it_is_answered(
        self,
        harness: ToolHarness,
        tool: ChatbotTool[Any],
        questions: Sequence[str],
        answers: Mapping[str, str],
    ) -> None:
        assert isinstance(tool, ClarifiableTool)
        for prompt in questions:
            result = asyncio.run(harness.run(tool, call_for(tool, prompt))).result
            for _ in range(_MOST_QUESTIONS):
                if result is None or result.question is None:
                    break
                session = _session(result, answers)
                result = asyncio.run(harness.run(tool, call_for(tool, prompt), NO_CONTEXTS, session)).result
                _check_result(tool, result)
            assert result is None or result.question is None, f"it still asks after {_MOST_QUESTIONS} answers"

    def test_r7_7_a_context_consumer_is_not_resumed_without_contexts(self, tool: ChatbotTool[Any]) -> None:
        if isinstance(tool, ClarifiableContextConsumerTool):
            with pytest.raises(NotImplementedError):
                tool.execute_with_clarification(ClarificationSession("{}", "x", "x"), call_for(tool, "x"))


def run_all(harness: ToolHarness, tool: ChatbotTool[Any], questions: Sequence[str]) -> list[ToolRun]:
    """The runs of a tool with all questions, in parallel."""

    async def together() -> list[ToolRun]:
        return list(await asyncio.gather(*(harness.run(tool, call_for(tool, each)) for each in questions)))

    return asyncio.run(together())


def call_for(tool: ChatbotTool[Any], prompt: str) -> ToolCall:
    """A call that the tool serves: of its domain and system."""
    system = tool.eligible_system
    return ToolCall(prompt, tool.domain or "test", () if system in (None, ALL) else (str(system),))


def _session(result: ToolExecutionResult, answers: Mapping[str, str]) -> ClarificationSession:
    question = result.question
    assert question is not None
    assert result.partial_json is not None, "a question needs the partial request"
    json.loads(result.partial_json)
    usual = question.options[0] if question.options else "x"
    answer = answers.get(question.question_id, usual)
    assert question.accepts(answer), f"question {question.question_id!r} does not accept {answer!r}"
    return ClarificationSession(result.partial_json, question.question_id, answer.strip())


def _check_result(tool: ChatbotTool[Any], result: ToolExecutionResult | None) -> None:
    if result is None:
        return
    assert isinstance(result, ToolExecutionResult), (
        f"a result must be a ToolExecutionResult or None, not {result!r}"
    )
    assert result.tool_name == tool.name, f"the result names tool {result.tool_name!r}"
    for each in result.documents:
        assert isinstance(each, UniqueTextDocument), f"{each!r} is no UniqueTextDocument"
        json.dumps(each.to_wire())
    if result.mode is ResultMode.NEEDS_CLARIFICATION:
        assert isinstance(tool, ClarifiableTool), "only a clarifiable tool may ask"


def _objects(schema: Mapping[str, Any], where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if schema.get("type") == "object" or "properties" in schema:
        yield where, schema
    inner = [*schema.get("properties", {}).items(), *schema.get("$defs", {}).items()]
    inner += [("anyOf", each) for each in schema.get("anyOf", ())]
    inner += [("[]", schema["items"])] if "items" in schema else []
    for name, each in inner:
        yield from _objects(each, f"{where}.{name}")
