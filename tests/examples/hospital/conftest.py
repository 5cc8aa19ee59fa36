"""The hospital plugin's tools over a few pages, and over the platform with the sample documents."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from serving.app import BUILT_INS, create_app
from serving.settings import Settings
from toolkit.results import ToolExecutionResult
from toolkit.testing.knowledge import MemoryDocument, MemoryEntity, MemoryKnowledge, MemoryKnowledgeBase
from tudastar_hospital.clinic_finder import ClinicFinderTool
from tudastar_hospital.department_info import DepartmentInfoTool
from tudastar_hospital.doctor_info import DoctorInfoTool
from tudastar_hospital.entity_report import EntityReportTool
from tudastar_hospital.patient_lookup import PatientLookupTool
from tudastar_hospital.referral_letter import ReferralLetterTool
from tudastar_hospital.risk_assessment import RiskAssessmentTool
from tudastar_hospital.suggestion import SuggestionTool
from tudastar_hospital.visit_simulation import VisitSimulationTool

TOOLS = (
    ClinicFinderTool,
    DepartmentInfoTool,
    DoctorInfoTool,
    EntityReportTool,
    PatientLookupTool,
    ReferralLetterTool,
    RiskAssessmentTool,
    SuggestionTool,
    VisitSimulationTool,
)
PAGES = (
    MemoryDocument(
        "Szemészet.html", ("A szemészet az M épület földszintjén van. Péntekenként rendel.", "Nincs beutaló.")
    ),
    MemoryDocument("Belgyógyászat.txt", "A cukorbetegség gondozása a B épületben folyik."),
    MemoryDocument(
        "Parkolás.txt", "A parkolás díjtalan. A busz a kapu előtt áll meg. A szemészet messze van."
    ),
)


HOURS = """Rendelési idő. A rendelés ünnepnapon szünetel.
Felnőtt szakrendelések, Fő utcai telep. Rendelés Hely Idő. ortopédia A épület, 8.00–14.00. sebészet A épület, 9.00.
Felnőtt szakrendelések, Malom utcai telep. Rendelés Hely Idő. szemészet M épület, 8.00–12.00.
Gyermekrendelések, Malom utcai telep. Rendelés Hely Idő. gyermekortopédia M épület, 13.00–16.00.
Sürgős esetben. Jöjjön 0–24 órában."""
DOCTORS = (
    MemoryDocument(
        "ilona.html",
        "Dr Kovács Ilona kardiológus. A szívet gyógyítja. Hétfőn rendel. Kovács Andrással nem rokona egymásnak.",
    ),
    MemoryDocument(
        "osztályok.html", "A sebészetet Dr Kovács András vezeti. A bőrt Dr Kovács Péterné gyógyítja."
    ),
    MemoryDocument(
        "ifj.txt", "Ifj. Dr Szabó Gergely ortopéd. Kedden rendel. Ifj Dr Szabó Gergely szeret műteni."
    ),
    MemoryDocument("id.txt", "Szabó Gergely nevű orvosból kettő van. Id Dr Szabó Gergely belgyógyász."),
    MemoryDocument("más.txt", "Dr Tóth Eszter gyerekeket gyógyít. Németh Judit jogi képviselő."),
)
NAMES = (
    MemoryEntity("Dr Kovács Ilona"),
    MemoryEntity("Kovács András", aliases=("Kovács Andrással",)),
    MemoryEntity("Dr Kovács András"),
    MemoryEntity("Dr Kovács Péterné"),
    MemoryEntity("Szabó Gergely"),
    MemoryEntity("Dr Szabó Gergely"),
    MemoryEntity("Dr Tóth Eszter"),
    MemoryEntity("Németh Judit"),
    MemoryEntity("Kovács"),
)


@dataclass(frozen=True)
class Reply:
    """The events of an answer."""

    events: list[dict[str, Any]]

    def of(self, status: str) -> list[dict[str, Any]]:
        """The events of one status."""
        return [event for event in self.events if event["progressStatus"] == status]

    @property
    def text(self) -> str:
        """All that was streamed."""
        return "".join(event["content"] for event in self.of("LLM_GENERATION"))

    @property
    def question(self) -> dict[str, Any]:
        """The one that the user is asked."""
        (event,) = self.of("INTERACTIVE_QUESTION")
        question: dict[str, Any] = event["question"]
        return question

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each tool by its name."""
        (event,) = self.of("TRACE")
        return {entry["tool"]: entry["outcome"] for entry in event["trace"]["tools"]}


@pytest.fixture(autouse=True)
def without_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(VisitSimulationTool, "delay", 0.0)


@pytest.fixture
def pages() -> MemoryKnowledgeBase:
    """A few pages of the hospital."""
    return MemoryKnowledgeBase(MemoryKnowledge(PAGES, domain="hospital"))


@pytest.fixture
def consultations() -> MemoryKnowledgeBase:
    """The page of the consultation hours."""
    return MemoryKnowledgeBase(MemoryKnowledge([MemoryDocument("Idő.html", HOURS)], domain="hospital"))


@pytest.fixture
def doctors() -> MemoryKnowledgeBase:
    """Pages that name several doctors, some of them of one name."""
    return MemoryKnowledgeBase(MemoryKnowledge(DOCTORS, NAMES, domain="hospital"))


@pytest.fixture
def texts() -> Callable[[ToolExecutionResult | None], list[tuple[str, str, str | None]]]:
    """Class, name and text of a result's documents, since the ids of texts of a tool's own are new each time."""

    def of(result: ToolExecutionResult | None) -> list[tuple[str, str, str | None]]:
        assert result is not None
        return [(type(each).__name__, each.document_name, each.text) for each in result.documents]

    return of


@pytest.fixture
async def send(sample_store: Path) -> AsyncIterator[Callable[..., Awaitable[Reply]]]:
    """Posts to the platform, with the offline assistant, over the ingested sample documents."""
    settings = Settings(_env_file=None, store=sample_store, trace=True)
    app = create_app(settings, built_ins=(*BUILT_INS, *TOOLS), plugins=())
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8765") as client,
    ):

        async def post(endpoint: str, **body: Any) -> Reply:
            response = await client.post(f"/api/chatbot/{endpoint}", json=body)
            assert response.status_code == 200, response.text
            events = [line for line in response.text.split("\n\n") if line.startswith("data: ")]
            return Reply([json.loads(event.removeprefix("data: ")) for event in events])

        yield post


@pytest.fixture
def ask(send: Callable[..., Awaitable[Reply]]) -> Callable[..., Awaitable[Reply]]:
    """Asks the hospital."""

    async def chat(message: str, **fields: Any) -> Reply:
        return await send("chat", **{"message": message, "domain": "hospital", **fields})

    return chat


@pytest.fixture
def clarify(send: Callable[..., Awaitable[Reply]]) -> Callable[..., Awaitable[Reply]]:
    """Answers the question of a reply."""

    async def answer(asking: Reply, text: str) -> Reply:
        return await send("clarify", chatId=asking.events[0]["chatId"], answer=text)

    return answer
