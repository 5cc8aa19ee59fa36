"""A routed tool that delivers by itself: a way through the hospital, streamed in segments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from toolkit.documents import UniqueTextDocument
from toolkit.emitter import SEGMENT_BREAK, ProgressEvent, emit_words
from toolkit.execution import wait_for
from toolkit.llm.drawing import draw_request
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ChatbotTool, ToolCall
from tudastar_hospital.department_info import DepartmentInfoRequest, DepartmentInfoTool

STEPS = (
    ("Érkezés", "Arrival", "megközelítés busz parkolás"),
    ("Betegfelvétel", "Admission", "betegfelvétel"),
    ("Az osztály", "The department", "{department} épület emelet telefonszáma"),
    ("Vizsgálat", "Examination", "{department} beutaló előjegyzés vizsgálat"),
    ("Távozás", "Going home", "zárójelentés távozás napja"),
)
"""Hungarian and English heading, and what is looked for in the pages."""


class VisitSimulationTool(ChatbotTool[DepartmentInfoRequest]):
    """Tells a visit to a department step by step, each step in the words of the pages."""

    name = "visit_simulation"
    domain = "hospital"
    eligible_system = ALL
    request_class = DepartmentInfoRequest
    instruction = DepartmentInfoTool.instruction
    executable_instruction = (
        "visit_simulation: true if a simulation is wanted (szimuláció, szimuláld, útját); false otherwise"
    )
    delay: ClassVar[float] = 0.02
    """Seconds between two words."""

    def init(self, services: Services) -> None:
        self.llm = services.llm
        self.knowledge = services.knowledge

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """Streams through the raw emitter, since what goes through the tool's own one is no answer text."""
        request = wait_for(draw_request(self.llm, self, call))
        department = request.department if request else None
        segments = list(self._segments(department, call)) if department else []
        if not segments:
            return None
        for number, segment in enumerate(segments):
            if number and call.emitter is not None:
                call.emitter.next(ProgressEvent(SEGMENT_BREAK))
            emit_words(call.emitter, segment, self.delay)
        if call.final_callback is not None:
            call.final_callback.on_success(self.name, "".join(segments))
        return ToolExecutionResult.as_answered(self.name)

    def _segments(self, department: str, call: ToolCall) -> Iterator[str]:
        """The steps of which the pages tell: the best sentence of each and the one after it."""
        knowledge = self.knowledge.open(call.domain)
        for magyar, angol, query in STEPS:
            found = knowledge.search(query.format(department=department), call.systems)
            best = [each for each in found if _is_sentence(each)][:1]
            around = knowledge.with_neighbours(best, before=0, after=1)
            if best:
                heading = magyar if call.user_lang == "magyar" else angol
                told = " ".join(each.text or "" for each in around if _is_sentence(each))
                yield f"{heading}: {told}\n\n"


def _is_sentence(document: UniqueTextDocument) -> bool:
    """Headings and rows of tables end without a full stop."""
    return (document.text or "").endswith(".")
