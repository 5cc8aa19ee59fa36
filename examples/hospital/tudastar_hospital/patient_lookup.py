"""An orchestrated tool that runs first: a summary for the answer, the whole case for the tools after it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from toolkit.contexts import PromptAndContext
from toolkit.documents import InternalContextDocument, TextAnswer, UniqueTextDocument
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.llm.drawing import draw_request
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ToolCall
from tudastar_hospital.patients import Patient, load_patients

SUMMARY = {
    "magyar": "{name}, {age} éves. Diagnózisok: {diagnoses}. Gyógyszerek: {medicines}. Labor: {labs}.",
    "angol": "{name}, aged {age}. Diagnoses: {diagnoses}. Medicines: {medicines}. Lab values: {labs}.",
}


class PatientRequest(BaseModel):
    """What is drawn from the question."""

    patient: str | None = None


class PatientLookupSettings(BaseModel):
    """The section `patient_lookup` of the settings, whose values may be texts: `false` is no."""

    signed_in_only: bool = False


class PatientLookupTool(OrchestratorActivatedTool[PatientRequest]):
    """Finds the patients that a question names; by the setting `signed_in_only` for signed-in users alone."""

    name = "patient_lookup"
    domain = "hospital"
    eligible_system = ALL
    priority = 0
    request_class = PatientRequest
    instruction = "patient: family name and given name, without case ending; null when no patient is named"
    executable_instruction = "patient_lookup: true if the question names a patient; false otherwise"

    def init(self, services: Services) -> None:
        self.llm = services.llm
        self.patients = load_patients()
        self.settings = PatientLookupSettings.model_validate(dict(services.settings(self.name)))

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        request = await draw_request(self.llm, self, call)
        found = self.find(request.patient if request else None, call)
        documents = [document for each in found for document in _documents(each, call.user_lang)]
        return ToolExecutionResult.as_guaranteed_context(self.name, documents) if documents else None

    def find(self, name: str | None, call: ToolCall) -> list[Patient]:
        """The patients of that name, or else those that the question names; other tools ask it too."""
        if self.settings.signed_in_only and call.user_data is None:
            return []
        text = name or call.user_prompt
        return [patient for patient in self.patients if patient.is_named_in(text)]


def cases_in(found: Iterable[PromptAndContext]) -> list[Patient]:
    """The cases that the look-up handed on, each once, for the tools that go on with them."""
    documents = [document for each in found for document in each.context]
    texts = [each.text for each in documents if isinstance(each, InternalContextDocument)]
    return [Patient.model_validate_json(text) for text in dict.fromkeys(texts) if text]


def _documents(patient: Patient, user_lang: str) -> tuple[UniqueTextDocument, UniqueTextDocument]:
    summary = SUMMARY.get(user_lang, SUMMARY["angol"]).format_map(patient.described())
    case = InternalContextDocument.of(patient.model_dump_json(), patient.name)
    return TextAnswer.of(summary, patient.name), case
