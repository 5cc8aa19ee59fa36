"""The retrieval tool over a real store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

from retrieval.knowledge import StoreKnowledgeBase
from retrieval.tools.rag import AbstractRAGRetrievalTool, RAGRetrievalTool
from toolkit.discovery import ToolClass
from toolkit.kinds import MAX_PRIORITY
from toolkit.knowledge import KnowledgeBase
from toolkit.results import ResultMode
from toolkit.testing.conformance import OrchestratorActivatedToolConformance
from toolkit.testing.harness import run_tool
from toolkit.tool import ALL, ToolCall


class TestConformance(OrchestratorActivatedToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return RAGRetrievalTool

    @pytest.fixture
    def questions(self) -> Sequence[str]:
        return ("Kinek fájt a keze?", "", "🙂")

    @pytest.fixture
    def knowledge(self, tale_alone: KnowledgeBase) -> KnowledgeBase:
        return tale_alone


def test_r4_2_it_runs_last_and_in_every_domain() -> None:
    assert (RAGRetrievalTool.priority, RAGRetrievalTool.domain) == (MAX_PRIORITY, None)
    assert RAGRetrievalTool.eligible_system == ALL


def test_the_best_sentences_come_with_those_around_them(base: StoreKnowledgeBase) -> None:
    class OneSentence(RAGRetrievalTool):
        sentences: ClassVar[int] = 1

    found = run_tool(OneSentence, "Mikor indult a vásárba Illés?", knowledge=base, domain="tale").result
    assert found is not None
    assert (found.mode, found.tool_name, found.guaranteed) == (ResultMode.CONTEXT, "rag_retrieval", False)
    assert [(each.text, each.sentence_score > 0) for each in found.documents] == [
        ("Illésnek két ökre volt.", False),
        ("A vásárba Borbálával indult Illés.", True),
        ("Este Benedek uram elaludt.", False),
    ]


def test_r1_6_it_searches_the_systems_of_the_call(base: StoreKnowledgeBase) -> None:
    found = run_tool(RAGRetrievalTool, "Borbála", knowledge=base, domain="tale", systems=["paper"]).result
    assert found is not None
    assert {each.document_name for each in found.documents} == {"hirek"}


def test_r3_9_nothing_found_is_none(base: StoreKnowledgeBase) -> None:
    assert run_tool(RAGRetrievalTool, "zsiráf", knowledge=base, domain="tale").result is None
    assert run_tool(RAGRetrievalTool, "", knowledge=base, domain="tale").result is None


def test_important_words_join_the_question(base: StoreKnowledgeBase) -> None:
    found = run_tool(
        RAGRetrievalTool, "És azután?", knowledge=base, domain="tale", important_words=["kút"]
    ).result
    assert found is not None
    assert "A kút mellett senki sem járt." in [each.text for each in found.documents]


def test_r4_9_a_subclass_wires_its_domain_and_may_change_the_query(base: StoreKnowledgeBase) -> None:
    class SeaRetrieval(AbstractRAGRetrievalTool):
        name = "sea_retrieval"
        domain = "sea"
        executable_instruction = "sea_retrieval: true if it is about the sea; false otherwise"
        before: ClassVar[int] = 0
        after: ClassVar[int] = 0

        def query(self, call: ToolCall) -> str:
            return "captain"

    found = run_tool(SeaRetrieval, "Ki volt ő?", knowledge=base).result
    assert found is not None
    assert [each.text for each in found.documents] == [
        "Harrow was a captain of the river fleet.",
        "The captain's niece, Mabel, kept Harrow's books.",
    ]
