"""Page analysis: which pages a question is about, and what is given of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from retrieval.knowledge import StoreKnowledgeBase
from retrieval.tools.page import AbstractPageAnalysisTool
from toolkit.discovery import ToolClass
from toolkit.documents import SUMMARY_SENTENCE, UniqueTextDocument
from toolkit.knowledge import KnowledgeBase
from toolkit.testing.conformance import OrchestratorActivatedToolConformance
from toolkit.testing.harness import run_tool
from toolkit.testing.knowledge import MemoryDocument, MemoryKnowledge, MemoryKnowledgeBase
from toolkit.tool import ToolCall


class PageTool(AbstractPageAnalysisTool):
    name = "pages"
    executable_instruction = "pages: true if the question is about a page or chapter; false otherwise"
    sentences = 2
    summary_sentences = 1


BOOK = MemoryDocument(
    "Regény",
    [
        "A vár a dombon állt. A várat falak vették körül. A kutya ugatott.",
        "Jött a török sereg. A sereg ágyúkat hozott. A vár népe várta a sereget.",
        "Esett az eső. Az ostrom véget ért. A török elvonult.",
    ],
    headings=["ELSŐ FEJEZET", "MÁSODIK FEJEZET", "HARMADIK FEJEZET Az ostrom vége"],
)
NOTES = MemoryDocument("Jegyzet", "A jegyzet a várról szól. Az ostrom sokáig tartott.", system="paper")
STORE = MemoryKnowledgeBase(MemoryKnowledge([BOOK, NOTES]))


class TestConformance(OrchestratorActivatedToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return PageTool

    @pytest.fixture
    def questions(self) -> Sequence[str]:
        return ("Foglald össze a második fejezetet!", "", "🙂", "99999. oldal")

    @pytest.fixture
    def knowledge(self) -> KnowledgeBase:
        return STORE


def pages(
    question: str, systems: Sequence[str] = (), tool: type[PageTool] = PageTool
) -> list[tuple[str, int]]:
    result = run_tool(tool, question, knowledge=STORE, systems=systems).result
    documents = result.documents if result else ()
    return [(each.document_name, each.page) for each in documents if each.sentence_number == SUMMARY_SENTENCE]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Foglald össze a második fejezetet!", [("Regény", 1)]),
        ("Mi áll a 3. oldalon?", [("Regény", 2)]),
        ("What is on pages 1-2?", [("Regény", 0), ("Regény", 1)]),
        ("Mi van a jegyzet 1. oldalán?", [("Jegyzet", 0)]),
        ("Mi volt az ostrom vége?", [("Regény", 2)]),
        ("Milyen sereg jött?", [("Regény", 1)]),
        ("Mit mond a 77. oldal a seregről?", [("Regény", 1)]),
        ("Xyz?", []),
    ],
)
def test_r4_9_pages_are_named_by_number_or_heading_or_found(
    question: str, expected: list[tuple[str, int]]
) -> None:
    assert pages(question) == expected


def test_r4_9_r1_6_the_systems_are_honoured() -> None:
    assert pages("Mi lett az ostrommal?", ["paper"]) == [("Jegyzet", 0)]
    assert pages("Foglald össze a második fejezetet!", ["paper"]) == []


def test_r4_9_r9_4_a_page_is_its_summary_and_its_best_sentences_in_order() -> None:
    result = run_tool(PageTool, "Milyen sereg jött a vár alá?", knowledge=STORE).result
    assert result is not None
    assert [(each.page, each.sentence_number, each.text) for each in result.documents[:3]] == [
        (1, -1, "A vár népe várta a sereget."),
        (1, 0, "Jött a török sereg."),
        (1, 2, "A vár népe várta a sereget."),
    ]
    summary, first, _ = result.documents[:3]
    assert summary.sentence_score >= first.sentence_score > 0


def test_r4_9_a_subclass_says_when_and_how() -> None:
    class Own(PageTool):
        pages = 1

        def is_about(self, call: ToolCall) -> bool:
            return "foglald" in call.user_prompt.lower()

        def summarise(self, page: object, call: ToolCall) -> str:
            return f"{getattr(page, 'heading', '')}: röviden" if "röviden" in call.user_prompt else ""

    assert run_tool(Own, "Milyen sereg jött?", knowledge=STORE).result is None
    result = run_tool(Own, "Foglald össze röviden a második fejezetet!", knowledge=STORE).result
    assert result is not None
    assert result.documents[0].text == "MÁSODIK FEJEZET: röviden"
    without = run_tool(Own, "Foglald össze a második fejezetet!", knowledge=STORE).result
    assert without is not None
    assert all(each.sentence_number >= 0 for each in without.documents)


def test_a_real_store(base: StoreKnowledgeBase) -> None:
    result = run_tool(PageTool, "Mi áll a mese 1. oldalán a malomról?", knowledge=base, domain="tale").result
    assert result is not None
    summary, *sentences = result.documents
    assert isinstance(summary, UniqueTextDocument)
    assert (summary.document_name, summary.page, summary.sentence_number) == ("mese", 0, SUMMARY_SENTENCE)
    assert "Varga lánya, Borbála, a malomban szolgált." in [each.text for each in sentences]


def test_r5_5_pages_that_the_question_names_suffice_where_the_tool_vouches() -> None:
    vouching = type("Vouching", (PageTool,), {"vouches": True})
    for question, guaranteed in (("Foglald össze a második fejezetet!", True), ("Milyen sereg jött?", False)):
        result = run_tool(vouching, question, knowledge=STORE).result
        assert result is not None
        assert result.guaranteed is guaranteed
