"""A routed tool with a finished answer: a letter as PDF, for the client to show or to save."""

from __future__ import annotations

import base64
import io
from html import escape

import fontpkg
from pydantic import BaseModel
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Paragraph, SimpleDocTemplate

from toolkit.documents import TextAnswer
from toolkit.execution import wait_for
from toolkit.llm.drawing import draw_request
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ChatbotTool, ToolCall
from tudastar_hospital.department_info import DepartmentInfoTool
from tudastar_hospital.patient_lookup import PatientLookupTool

FONT = "Roboto"
"""Has ő and ű, which the fonts that come with reportlab lack."""
TEXT = ParagraphStyle("text", fontName=FONT, fontSize=11, leading=16, spaceAfter=10)
TITLE = ParagraphStyle("title", TEXT, fontSize=18, leading=24)
LETTER = (
    "Címzett: {department}",
    "Beteg: {name}, {age} éves",
    "Diagnózisok: {diagnoses}",
    "Gyógyszerek: {medicines}",
    "Labor: {labs}",
    "Kérem a beteg szakorvosi vizsgálatát.",
    "Kelt: ________________ &nbsp; Aláírás: ________________",
)


class ReferralLetterRequest(BaseModel):
    """What is drawn from the question."""

    patient: str | None = None
    department: str | None = None


class ReferralLetterTool(ChatbotTool[ReferralLetterRequest]):
    """Refers one patient to a department; None unless both are named and known."""

    name = "referral_letter"
    domain = "hospital"
    eligible_system = ALL
    request_class = ReferralLetterRequest
    instruction = f"{PatientLookupTool.instruction}\n\n{DepartmentInfoTool.instruction}"
    executable_instruction = (
        "referral_letter: true if a referral is to be written (írj, készíts beutalót); false otherwise"
    )

    def init(self, services: Services) -> None:
        self.llm = services.llm
        self.patient_lookup = services.get(PatientLookupTool)
        self.department_info = services.get(DepartmentInfoTool)
        registerFont(TTFont(FONT, fontpkg.path(FONT)))

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """Two other tools are asked by plain method calls."""
        request = wait_for(draw_request(self.llm, self, call))
        if request is None or request.department is None:
            return None
        department = request.department
        patients = self.patient_lookup.find(request.patient, call)
        if len(patients) != 1 or not self.department_info.look_up(department, call):
            return None
        content = base64.b64encode(letter({"department": department, **patients[0].described()}))
        document = TextAnswer.of(content.decode(), f"Beutaló – {patients[0].name}")
        return ToolExecutionResult.as_answer(self.name, [document], "BASE64_PDF")


def letter(fields: dict[str, str]) -> bytes:
    """The letter as PDF; equal fields give equal bytes."""
    safe = {name: escape(text) for name, text in fields.items()}
    file = io.BytesIO()
    document = SimpleDocTemplate(file, title="Beutaló", invariant=1)
    document.build(
        [Paragraph("Beutaló", TITLE), *(Paragraph(line.format_map(safe), TEXT) for line in LETTER)]
    )
    return file.getvalue()
