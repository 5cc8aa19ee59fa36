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
from toolkit.testing.knowledge import MemoryDocument, MemoryKnowledge, MemoryKnowledgeBase
from tudastar_hospital.department_info import DepartmentInfoTool
from tudastar_hospital.patient_lookup import PatientLookupTool
from tudastar_hospital.referral_letter import ReferralLetterTool
from tudastar_hospital.risk_assessment import RiskAssessmentTool
from tudastar_hospital.suggestion import SuggestionTool
from tudastar_hospital.visit_simulation import VisitSimulationTool

TOOLS = (
    DepartmentInfoTool,
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
def texts() -> Callable[[ToolExecutionResult | None], list[tuple[str, str, str | None]]]:
    """Class, name and text of a result's documents, since the ids of texts of a tool's own are new each time."""

    def of(result: ToolExecutionResult | None) -> list[tuple[str, str, str | None]]:
        assert result is not None
        return [(type(each).__name__, each.document_name, each.text) for each in result.documents]

    return of


@pytest.fixture
async def ask(sample_store: Path) -> AsyncIterator[Callable[..., Awaitable[Reply]]]:
    """Asks the platform, with the offline assistant, over the ingested sample documents."""
    settings = Settings(_env_file=None, store=sample_store, trace=True)
    app = create_app(settings, built_ins=(*BUILT_INS, *TOOLS), plugins=())
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8765") as client,
    ):

        async def send(message: str, **fields: Any) -> Reply:
            body = {"message": message, "domain": "hospital", **fields}
            response = await client.post("/api/chatbot/chat", json=body)
            assert response.status_code == 200, response.text
            events = [line for line in response.text.split("\n\n") if line.startswith("data: ")]
            return Reply([json.loads(event.removeprefix("data: ")) for event in events])

        yield send
