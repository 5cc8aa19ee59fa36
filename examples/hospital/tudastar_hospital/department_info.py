"""A routed tool: what the ingested pages say of a department that the question names."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from toolkit.documents import UniqueTextDocument, merge_documents
from toolkit.emitter import ProgressEvent
from toolkit.execution import wait_for
from toolkit.llm.drawing import draw_request
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ChatbotTool, ToolCall
from tudastar_hospital.spelling import fold

EXAMPLES = (
    '"belgyógyászat", "bőrgyógyászat", "gyermekgyógyászat", "intenzív osztály", "kardiológia", '
    '"laboratórium", "neurológia", "nőgyógyászat", "ortopédia", "radiológia", "sebészet", "sürgősségi", '
    '"szemészet", "szülészet"'
)
"""For the model; a name that is not among them is looked up just as well."""
ASKED = {
    "place": "telep épület emelet",
    "hours": "szakrendelés rendel hétfő péntek óra",
    "phone": "telefonszáma",
    "head": "vezeti vezetője főorvosa",
}
"""What may be asked, and the words by which the pages tell it."""


class DepartmentInfoRequest(BaseModel):
    """What is drawn from the question."""

    department: str | None = None
    asked: Literal["place", "hours", "phone", "head"] | None = None


class DepartmentInfoTool(ChatbotTool[DepartmentInfoRequest]):
    """Gives the pages of the documents that bear the department's name."""

    name = "department_info"
    domain = "hospital"
    eligible_system = ALL
    request_class = DepartmentInfoRequest
    instruction = (
        f"department: Hungarian name of the department, as {EXAMPLES}; null when none is named\n\n"
        "asked: place = hol / merre; hours = mikor / rendel; phone = telefonszám; head = vezeti / vezetője"
    )
    executable_instruction = (
        "department_info: is anything asked about a department of the hospital?\n"
        f"- true: its place, hours, telephone, head (hol van, mikor rendel, telefonszáma): {EXAMPLES}\n"
        "- false: in all other cases"
    )
    system_prompt_supplement = "What is said of the departments comes from the hospital's own pages."

    def init(self, services: Services) -> None:
        self.llm = services.llm
        self.knowledge = services.knowledge

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """A plain method, since the store blocks; in it `wait_for` takes the place of `await`."""
        progress = self.tool_progress_emitter(call.emitter)
        progress.next(ProgressEvent("READING_QUESTION"))
        request = wait_for(draw_request(self.llm, self, call))
        if request is None or request.department is None:
            return None
        progress.next(ProgressEvent("LOOKING_UP", request.department))
        found = self.look_up(request.department, call, ASKED.get(request.asked or "", ""))
        return ToolExecutionResult.as_context(self.name, found) if found else None

    def look_up(self, department: str, call: ToolCall, asked: str = "") -> list[UniqueTextDocument]:
        """The department's pages in reading order, scored by the words `asked`; empty when it has none."""
        knowledge = self.knowledge.open(call.domain)
        hits = knowledge.search(f"{department} {asked}", call.systems, limit=30)
        own = [hit for hit in hits if fold(department) in fold(hit.document_name)]
        pages = dict.fromkeys((hit.document_id, hit.page) for hit in own)
        return sorted(merge_documents(own, *(knowledge.page(*page) for page in pages)))
