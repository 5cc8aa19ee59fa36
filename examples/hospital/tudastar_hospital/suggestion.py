"""A context consumer: what the hospital's pages say of the illnesses that an earlier tool found."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from toolkit.contexts import ToolContexts
from toolkit.documents import merge_documents
from toolkit.kinds import ContextConsumerTool, OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ToolCall
from tudastar_hospital.patient_lookup import PatientLookupTool, cases_in


class SuggestionRequest(BaseModel):
    """Nothing is drawn from the question."""


class SuggestionTool(OrchestratorActivatedTool[SuggestionRequest], ContextConsumerTool[SuggestionRequest]):
    """Where the found patients can turn next: sentences for each of their diagnoses. None without a patient."""

    name = "suggestion"
    domain = "hospital"
    eligible_system = ALL
    priority = 20
    request_class = SuggestionRequest
    executable_instruction = "suggestion: true if it helps to know where a patient can turn; false otherwise"
    sentences: ClassVar[int] = 2
    """For each diagnosis."""

    def init(self, services: Services) -> None:
        self.knowledge = services.knowledge

    def execute_with_prior_context(
        self, call: ToolCall, prior_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        """The keys are `<taskNo>:<toolName>`: the cases of all sub-queries are taken together."""
        keys = [key for key in prior_tool_contexts if key.partition(":")[2] == PatientLookupTool.name]
        cases = cases_in(found for key in keys for found in prior_tool_contexts[key])
        diagnoses = dict.fromkeys(diagnosis.name for case in cases for diagnosis in case.diagnoses)
        if not diagnoses:
            return None
        knowledge = self.knowledge.open(call.domain)
        found = [knowledge.search(diagnosis, call.systems, self.sentences) for diagnosis in diagnoses]
        documents = merge_documents(*found)
        return ToolExecutionResult.as_context(self.name, documents) if documents else None
