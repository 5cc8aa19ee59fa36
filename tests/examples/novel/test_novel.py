"""The example plugin for a novel, over the sample tale."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from ner.ingestion import IngestionRequest, SourceRequest
from ner.spec import DomainSpec
from pipelines.engines.local import LocalEngine
from pipelines.run import PipelineRunner
from retrieval.knowledge import StoreKnowledgeBase
from serving.app import BUILT_INS, create_app
from serving.settings import Settings
from toolkit.discovery import ToolClass
from toolkit.documents import TextAnswer
from toolkit.knowledge import KnowledgeBase
from toolkit.testing.conformance import OrchestratorActivatedToolConformance
from toolkit.testing.harness import run_tool
from tudastar_novel.character import CharacterTool
from tudastar_novel.context_search import ContextSearchTool
from tudastar_novel.summary import SummaryTool

TALE = Path(__file__).resolve().parents[3] / "data" / "tale" / "a_holdmalom.txt"
TOOLS: tuple[ToolClass, ...] = (CharacterTool, SummaryTool, ContextSearchTool)


@pytest.fixture(scope="module")
def novel(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    store = tmp_path_factory.mktemp("novel") / "store"
    spec = DomainSpec(domain="novel")
    with PipelineRunner(store, lambda: LocalEngine(2)) as runner:
        report = runner.run(spec, IngestionRequest(sources=(SourceRequest(str(TALE)),)))
    assert report.status == "published"
    return StoreKnowledgeBase(store)


class TestConformance(OrchestratorActivatedToolConformance):
    @pytest.fixture(params=TOOLS, ids=lambda tool: tool.name)
    def tool_class(self, request: pytest.FixtureRequest) -> ToolClass:
        return request.param  # type: ignore[no-any-return]

    @pytest.fixture
    def questions(self) -> Sequence[str]:
        return ("Ki az a Palkó?", "Foglald össze a második fejezetet!", "", "99. oldal")

    @pytest.fixture
    def knowledge(self, novel: KnowledgeBase) -> KnowledgeBase:
        return novel


def ask(novel: KnowledgeBase, question: str) -> list[dict[str, Any]]:
    app = create_app(
        Settings(_env_file=None, state="sqlite://"),
        knowledge=novel,
        built_ins=(*BUILT_INS, *TOOLS),
        plugins=(),
    )

    async def events() -> list[dict[str, Any]]:
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client,
        ):
            body = {"message": question, "domain": "novel", "trace": True}
            response = await client.post("/api/chatbot/chat", json=body)
        lines = [line for line in response.text.split("\n\n") if line.startswith("data: ")]
        return [json.loads(line.removeprefix("data: ")) for line in lines]

    return asyncio.run(events())


def outcomes(events: Sequence[dict[str, Any]]) -> dict[str, str]:
    (trace,) = (event["trace"] for event in events if event["progressStatus"] == "TRACE")
    return {entry["tool"]: entry["outcome"] for entry in trace["tools"]}


def answer(events: Sequence[dict[str, Any]]) -> str:
    return "".join(event["content"] for event in events if event["progressStatus"] == "LLM_GENERATION")


def test_r4_9_a_character_is_described_by_names_company_and_sentences(novel: KnowledgeBase) -> None:
    result = run_tool(CharacterTool, "Ki az a Bíró Mátyás?", knowledge=novel).result
    assert result is not None
    cards = [each for each in result.documents if isinstance(each, TextAnswer)]
    assert {each.document_name for each in cards} <= {
        entity.name for entity in novel.open("novel").entities() if entity.label == "PER"
    }
    assert any("Mátyás" in (each.text or "") for each in cards)
    assert any(each.document_name == "a_holdmalom" for each in result.documents)
    assert run_tool(CharacterTool, "Milyen idő volt?", knowledge=novel).result is None


def test_r4_9_a_chapter_is_summed_up(novel: KnowledgeBase) -> None:
    result = run_tool(SummaryTool, "Foglald össze a második fejezetet!", knowledge=novel).result
    assert result is not None
    summary = result.documents[0]
    assert (summary.page, summary.sentence_number) == (1, -1)
    assert "Kende Ambrus negyven ezüsttallérért adta zálogba a holdvasat" in (summary.text or "")
    assert {each.page for each in result.documents} == {1}
    assert run_tool(SummaryTool, "Ki az a Palkó?", knowledge=novel).result is None


def test_r4_9_retrieval_seeks_all_names_and_gives_a_wider_context(novel: KnowledgeBase) -> None:
    result = run_tool(ContextSearchTool, "Kinek adta a gróf a malmot?", knowledge=novel).result
    assert result is not None
    texts = " ".join(each.text or "" for each in result.documents)
    assert "Hollóvári Farkas gróf a füzesbereki malmot" in texts


def test_r4_2_in_its_domain_it_takes_the_place_of_the_general_retrieval(novel: KnowledgeBase) -> None:
    events = ask(novel, "Hány tallérért adta zálogba Kende Ambrus a holdvasat?")
    assert "rag_retrieval" not in outcomes(events)
    assert outcomes(events)["context_search"] == "CONTEXT"
    assert "negyven ezüsttallérért" in answer(events)


def test_r4_9_the_summary_is_in_the_answer(novel: KnowledgeBase) -> None:
    events = ask(novel, "Foglald össze a második fejezetet!")
    assert (outcomes(events)["summary"], outcomes(events)["context_search"]) == ("CONTEXT", "SKIPPED")
    first, *_ = answer(events).split("\n\n")[1:]
    assert first.endswith("— a_holdmalom, 2. oldal, összefoglaló")
