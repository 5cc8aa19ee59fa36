"""A dependent tool: a score computed from the cases that the patient look-up found."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from toolkit.contexts import ToolContexts
from toolkit.documents import TextAnswer
from toolkit.kinds import OrchestratorActivatedTool, ToolDependent
from toolkit.llm.drawing import draw_request
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ToolCall
from tudastar_hospital.patient_lookup import PatientLookupTool, PatientRequest, cases_in
from tudastar_hospital.patients import Patient
from tudastar_hospital.stroke_risk import ATRIAL_FIBRILLATION, counted_items

SCORE = "CHA2DS2-VASc"


class RiskAssessmentTool(OrchestratorActivatedTool[PatientRequest], ToolDependent[PatientRequest]):
    """The CHA2DS2-VASc score of the found patients who have atrial fibrillation, for whom it is made."""

    name = "risk_assessment"
    domain = "hospital"
    eligible_system = ALL
    priority = 10
    request_class = PatientRequest
    instruction = PatientLookupTool.instruction
    executable_instruction = "risk_assessment: true if a patient's risk is asked for; false otherwise"
    system_prompt_supplement = "State the score as computed, with every item; do not advise a treatment."

    def init(self, services: Services) -> None:
        self.llm = services.llm
        self.patient_lookup = services.get(PatientLookupTool)

    @property
    def required_tools(self) -> Set[OrchestratorActivatedTool[Any]]:
        return {self.patient_lookup}

    async def execute_with_required_context(
        self, call: ToolCall, required_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        return self.assess(cases_in(required_tool_contexts.get(self.patient_lookup.name, ())), call)

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """Started by its name, it calls the look-up by a plain method call."""
        request = await draw_request(self.llm, self, call)
        return self.assess(self.patient_lookup.find(request.patient if request else None, call), call)

    def assess(self, cases: Iterable[Patient], call: ToolCall) -> ToolExecutionResult | None:
        """The scores of those cases that have one."""
        reports = [report(case, call.user_lang) for case in cases if case.has(ATRIAL_FIBRILLATION)]
        documents = [TextAnswer.of(text, SCORE) for text in reports]
        return ToolExecutionResult.as_guaranteed_context(self.name, documents) if documents else None


def report(patient: Patient, user_lang: str) -> str:
    """The score with the items that made it: `Őri Gergő, CHA2DS2-VASc: 0`."""
    items = counted_items(patient)
    lines = [f"{patient.name}, {SCORE}: {sum(item.points for item in items)}"]
    lines += [f"+{item.points} {item.magyar if user_lang == 'magyar' else item.angol}" for item in items]
    return "\n".join(lines)
