from __future__ import annotations

import re

import pytest
from pydantic import BaseModel

from toolkit.clarification import ClarificationSession
from toolkit.contexts import (
    NO_CONTEXTS,
    PromptAndContext,
    ToolContexts,
    completion_key,
    freeze_contexts,
)
from toolkit.coordination import AgentCoordinator, AgentStep
from toolkit.documents import InternalContextDocument, TextAnswer
from toolkit.kinds import (
    MAX_PRIORITY,
    AsyncTaskTool,
    ClarifiableContextConsumerTool,
    ContextConsumerTool,
    IngestionTool,
    OrchestratorActivatedTool,
    TaskProgress,
    ToolDependent,
)
from toolkit.results import ToolExecutionResult
from toolkit.tool import ToolCall


class Patient(BaseModel):
    patient: str | None = None


class PatientLookup(OrchestratorActivatedTool[Patient]):
    name = "patient_lookup"
    request_class = Patient
    priority = 0

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.as_context(self.name, TextAnswer.as_set("72 éves"))


class RiskAssessment(OrchestratorActivatedTool[Patient], ToolDependent[Patient]):
    name = "risk_assessment"
    request_class = Patient
    priority = 10
    required_tools = frozenset({PatientLookup()})

    def execute_with_required_context(
        self, call: ToolCall, required_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        found = required_tool_contexts.get("patient_lookup", ())
        documents = [document for each in found for document in each.context]
        return ToolExecutionResult.as_context(self.name, documents) if documents else None


class Suggestion(ContextConsumerTool[Patient], OrchestratorActivatedTool[Patient]):
    name = "suggestion"
    request_class = Patient
    priority = 10

    def execute_with_prior_context(self, call: ToolCall, prior_tool_contexts: ToolContexts) -> None:
        return None


class AskingSuggestion(ClarifiableContextConsumerTool[Patient]):
    name = "asking_suggestion"
    request_class = Patient
    priority = 0

    def execute_with_prior_context(self, call: ToolCall, prior_tool_contexts: ToolContexts) -> None:
        return None

    def execute_with_clarification_and_prior_context(
        self, session: ClarificationSession, prior_tool_contexts: ToolContexts, call: ToolCall
    ) -> None:
        return None


class Report:
    status = "unchanged"
    error = None


class Ingestion(IngestionTool[Patient]):
    name = "ingestion"
    request_class = Patient

    def execute_ingestion(self, request: Patient) -> Report:
        return Report()


class Export(AsyncTaskTool[Patient]):
    name = "export"
    task_type = "export"
    request_class = Patient

    def run(self, request: Patient, progress: TaskProgress) -> dict[str, str | None]:
        return {"patient": request.patient}


class Coordinator(AgentCoordinator[Patient]):
    name = "coordinator"
    request_class = Patient

    def decompose(self, call: ToolCall, contexts: ToolContexts) -> AgentStep:
        return AgentStep(call.user_prompt, "patient_lookup")


CALL = ToolCall("Mekkora a kockázat?")


def test_r4_2_the_greatest_priority_is_the_greatest_32_bit_number() -> None:
    assert MAX_PRIORITY == 2_147_483_647


@pytest.mark.parametrize("tool", [Ingestion(), Export()])
def test_r4_4_a_tool_outside_the_chat_has_a_stub_that_returns_none(tool: Ingestion | Export) -> None:
    assert tool.execute_with_result(CALL) is None


@pytest.mark.parametrize("tool", [Suggestion(), AskingSuggestion()])
def test_r4_5_a_context_consumer_refuses_to_run_without_contexts(
    tool: ContextConsumerTool[Patient],
) -> None:
    with pytest.raises(NotImplementedError, match=rf"'{tool.name}' .*execute_with_prior_context"):
        tool.execute_with_result(CALL)


def test_r7_7_a_clarifiable_consumer_refuses_to_resume_without_contexts() -> None:
    session = ClarificationSession("{}", "who", "Dobó")
    with pytest.raises(NotImplementedError, match="execute_with_clarification_and_prior_context"):
        AskingSuggestion().execute_with_clarification(session, CALL)


def test_r6_1_a_coordinator_is_not_executed_itself() -> None:
    with pytest.raises(NotImplementedError, match="decompose"):
        Coordinator().execute_with_result(CALL)


def test_r4_7_the_dependent_sees_what_its_upstream_found_internal_texts_included() -> None:
    documents = (*TextAnswer.as_set("72 éves"), *InternalContextDocument.as_set('{"age": 72}'))
    contexts = freeze_contexts({"patient_lookup": [PromptAndContext(CALL.user_prompt, documents)]})

    result = RiskAssessment().execute_with_required_context(CALL, contexts)

    assert result is not None
    assert [document.text for document in result.documents] == ["72 éves", '{"age": 72}']


def test_r4_7_without_orchestrator_the_dependent_runs_with_no_contexts() -> None:
    assert RiskAssessment().execute_with_result(CALL) is None


def test_r4_5_a_snapshot_cannot_be_changed_and_does_not_change() -> None:
    found = {completion_key(1, "patient_lookup"): [PromptAndContext("Ki a beteg?", ())]}
    snapshot = freeze_contexts(found)
    found["1:patient_lookup"].append(PromptAndContext("késői", ()))
    found["2:patient_lookup"] = []

    assert dict(snapshot) == {"1:patient_lookup": (PromptAndContext("Ki a beteg?", ()),)}
    for change in (
        "snapshot['3:late'] = ()",
        "del snapshot['1:patient_lookup']",
        "snapshot['1:patient_lookup'].append(None)",
        "snapshot['1:patient_lookup'][0].prompt = 'other'",
        "empty['1:late'] = ()",
    ):
        with pytest.raises((TypeError, AttributeError)):
            exec(change, {"snapshot": snapshot, "empty": NO_CONTEXTS})


def test_r4_1_kinds_combine_in_either_order_of_their_bases() -> None:
    class OneWay(OrchestratorActivatedTool[Patient], ContextConsumerTool[Patient], ToolDependent[Patient]):
        pass

    class OtherWay(ToolDependent[Patient], ContextConsumerTool[Patient], OrchestratorActivatedTool[Patient]):
        pass

    abstract = {"execute_with_prior_context", "execute_with_required_context", "required_tools"}
    assert OneWay.__abstractmethods__ == OtherWay.__abstractmethods__ == abstract


def test_an_incomplete_tool_cannot_be_constructed() -> None:
    class Unfinished(OrchestratorActivatedTool[Patient]):
        name = "unfinished"

    with pytest.raises(TypeError, match=re.escape("execute_with_result")):
        Unfinished()  # type: ignore[abstract]
