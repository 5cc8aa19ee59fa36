"""A tool whose question comes out of the documents: which of the doctors of one name is meant."""

from __future__ import annotations

from pydantic import BaseModel
from pydantic.json_schema import SkipJsonSchema

from toolkit.documents import UniqueTextDocument, merge_documents
from toolkit.questionnaire import AbstractClarifiableTool
from toolkit.questions import Question, with_evidence
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ToolCall
from tudastar_hospital.doctors import Doctor, begins_with, doctors_meant


class DoctorRequest(BaseModel):
    """Whom the question names, and who that is."""

    doctor: str | None = None
    person: SkipJsonSchema[str | None] = None
    """Asked or found, never drawn by the model: it is no part of the schema."""


class DoctorInfoTool(AbstractClarifiableTool[DoctorRequest]):
    """What the documents say of a doctor; asks which one where the name fits several."""

    name = "doctor_info"
    domain = "hospital"
    eligible_system = ALL
    priority = 0
    request_class = DoctorRequest
    instruction = (
        "doctor: the doctor's name as far as it is told, without case ending; with id. or ifj. where told; "
        "null when no doctor is named"
    )
    executable_instruction = (
        "doctor_info: true if anything is asked about a doctor named in the question; "
        "false in all other cases"
    )
    sentences = 8
    """Given besides those of the doctor's own page."""

    def init(self, services: Services) -> None:
        self.knowledge = services.knowledge
        text = {"magyar": "Melyik orvosra gondol?", "angol": "Which doctor do you mean?"}
        self.questions = (Question("person", text, self.namesakes),)
        super().init(services)

    async def draw(self, call: ToolCall) -> DoctorRequest:
        """What the model draws; where it draws nothing the name is looked for in the question itself."""
        return await super().draw(call) or DoctorRequest()

    def namesakes(self, request: DoctorRequest, call: ToolCall) -> dict[str, str]:
        """The first doctors of one name, with a sentence each that tells who it is."""
        found = next((group for group in self.meant(request, call) if len(group) > 1), [])
        return {each.name: with_evidence(each.name, each.sentences) for each in found}

    def execute_with_request(self, request: DoctorRequest, call: ToolCall) -> ToolExecutionResult | None:
        """Vouches for what it gives where each doctor has a page of his own."""
        groups = self.meant(request, call)
        chosen = [
            each for group in groups for each in group if len(group) == 1 or each.name == request.person
        ]
        pages = [self.own_page(each, call) for each in chosen]
        documents = merge_documents(*(each.sentences[: self.sentences] for each in chosen), *pages)
        if not documents:
            return None
        if all(pages):
            return ToolExecutionResult.as_guaranteed_context(self.name, documents)
        return ToolExecutionResult.as_context(self.name, documents)

    def meant(self, request: DoctorRequest, call: ToolCall) -> list[list[Doctor]]:
        """A list for each doctor named: of one, or of all whom the name fits."""
        text = f"dr. {request.doctor}" if request.doctor else call.user_prompt
        return doctors_meant(text, self.knowledge.open(call.domain), call.systems)

    def own_page(self, doctor: Doctor, call: ToolCall) -> list[UniqueTextDocument]:
        """The page that begins with the doctor's name; empty when there is none."""
        own = (
            each for each in doctor.sentences if each.sentence_number < 2 and begins_with(each.text, doctor)
        )
        heading = next(own, None)
        knowledge = self.knowledge.open(call.domain)
        return knowledge.page(heading.document_id, heading.page) if heading else []
