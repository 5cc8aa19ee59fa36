"""The hospital's task: by itself, over the sample documents, and started over REST."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from retrieval.knowledge import StoreKnowledgeBase
from serving.app import BUILT_INS, create_app
from serving.settings import Settings
from toolkit.discovery import ToolClass
from toolkit.errors import TaskCancelledError
from toolkit.testing.batch_conformance import AsyncTaskToolConformance
from toolkit.testing.harness import ToolHarness
from toolkit.testing.knowledge import MemoryDocument, MemoryEntity, MemoryKnowledge, MemoryKnowledgeBase
from toolkit.testing.recording import RecordingProgress
from tudastar_hospital.entity_report import EntityReportTool, ReportRequest, escaped

PAGES = (MemoryDocument("Rendelés.txt", "Kelemen Anna és Varga Lajos hétfőn rendel. Varga Lajos vezeti."),)
NAMES = (MemoryEntity("Kelemen Anna", aliases=("Kelemen Annát",)), MemoryEntity("Varga Lajos"))


@pytest.fixture
def ward() -> MemoryKnowledgeBase:
    return MemoryKnowledgeBase(MemoryKnowledge(PAGES, NAMES, "ward"))


class TestEntityReport(AsyncTaskToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return EntityReportTool

    @pytest.fixture
    def knowledge(self, ward: MemoryKnowledgeBase) -> MemoryKnowledgeBase:
        return ward

    @pytest.fixture
    def request_parameters(self) -> Mapping[str, Any]:
        return {"domain": "ward"}


def test_r12_1_a_report_names_each_entity_with_its_sentences_and_tells_its_progress(
    ward: MemoryKnowledgeBase,
) -> None:
    progress = RecordingProgress()
    with ToolHarness(EntityReportTool, knowledge=ward) as harness:
        report = harness.tool(EntityReportTool).run(ReportRequest(domain="ward"), progress)
    text = str(report["markdown"])
    assert report["entities"] == 2
    assert text.startswith("# ward\n")
    assert "## Varga Lajos (" in text
    assert "- beside it: Kelemen Anna" in text
    assert "> Varga Lajos vezeti. — *Rendelés.txt, page 1*" in text
    assert [done for done, _, _ in progress.reports] == [0, 1, 2]


def test_r12_2_a_report_can_be_cancelled(ward: MemoryKnowledgeBase) -> None:
    with ToolHarness(EntityReportTool, knowledge=ward) as harness, pytest.raises(TaskCancelledError):
        harness.tool(EntityReportTool).run(ReportRequest(domain="ward"), RecordingProgress(cancel_after=1))


def test_a_text_of_the_documents_is_no_markdown() -> None:
    assert escaped("<b>*a*\n# b") == "\\<b\\>\\*a\\* \\# b"


async def test_r12_1_r12_2_a_report_over_the_sample_documents_is_made_over_rest(sample_store: Path) -> None:
    settings = Settings(_env_file=None, store=sample_store, state="sqlite://")
    knowledge = StoreKnowledgeBase(sample_store)
    app = create_app(settings, knowledge=knowledge, built_ins=(*BUILT_INS, EntityReportTool), plugins=())
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client,
    ):
        started = await client.post("/api/tasks/entity-report", json={"domain": "hospital", "limit": 5})
        assert started.status_code == 202, started.text
        task = started.json()
        while task["status"] in ("QUEUED", "RUNNING"):
            await asyncio.sleep(0.1)
            task = (await client.get(started.headers["Location"])).json()
    assert task["status"] == "SUCCEEDED", task["error"]
    assert task["progress"] == {"done": 5, "total": 5, "message": ""}
    assert task["result"]["markdown"].count("\n## ") == 5
