"""Entity analysis over a real store."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from retrieval.knowledge import StoreKnowledgeBase
from retrieval.tools.entity import EntityAnalysisTool
from toolkit.discovery import ToolClass
from toolkit.documents import TextAnswer
from toolkit.knowledge import Entity, KnowledgeBase
from toolkit.testing.conformance import OrchestratorActivatedToolConformance
from toolkit.testing.harness import run_tool
from toolkit.tool import ToolCall


class TestConformance(OrchestratorActivatedToolConformance):
    @pytest.fixture
    def tool_class(self) -> ToolClass:
        return EntityAnalysisTool

    @pytest.fixture
    def questions(self) -> Sequence[str]:
        return ("Ki az a Borbála?", "", "🙂")

    @pytest.fixture
    def knowledge(self, tale_alone: KnowledgeBase) -> KnowledgeBase:
        return tale_alone


def test_an_entity_is_described_by_a_card_and_its_sentences(base: StoreKnowledgeBase) -> None:
    found = run_tool(EntityAnalysisTool, "Ki az a Borbála?", knowledge=base, domain="tale").result
    assert found is not None
    card, *sentences = found.documents
    assert isinstance(card, TextAnswer)
    assert (card.document_name, card.text) == (
        "Borbála",
        "Borbála (PER, 4 említés)\nNevek a szövegben: Borbála, Borbálával\nEgyütt említik vele: Illés (2), Varga (1)",
    )
    assert sentences[0].text == "Varga lánya, Borbála, a malomban szolgált."
    assert {each.sentence_number for each in sentences if each.document_name == "mese"} == {2, 3, 5}


def test_r3_8_the_card_is_in_the_users_language(base: StoreKnowledgeBase) -> None:
    found = run_tool(
        EntityAnalysisTool, "Who is Mabel?", knowledge=base, domain="sea", user_lang="angol"
    ).result
    assert found is not None
    assert (
        found.documents[0].text
        == "Mabel (PER, 1 mentions)\nNames in the text: Mabel\nNamed together with: Harrow (1)"
    )


def test_r1_6_nothing_of_other_systems_stands_in_the_card(base: StoreKnowledgeBase) -> None:
    found = run_tool(EntityAnalysisTool, "Borbála?", knowledge=base, domain="tale", systems=["paper"]).result
    assert found is not None
    assert [each.text for each in found.documents] == ["Borbála (PER)", "A pályázatot Borbála nyerte meg."]


def test_r3_9_a_question_without_names_is_not_for_it(base: StoreKnowledgeBase) -> None:
    assert run_tool(EntityAnalysisTool, "Mit ettek?", knowledge=base, domain="tale").result is None
    assert (
        run_tool(EntityAnalysisTool, "Ki Varga?", knowledge=base, domain="tale", systems=["paper"]).result
        is None
    )


def test_a_subclass_decides_what_it_is_about(base: StoreKnowledgeBase) -> None:
    class PlacesAlone(EntityAnalysisTool):
        def is_about(self, call: ToolCall, found: Sequence[Entity]) -> bool:
            return any(each.label == "LOC" for each in found)

    assert run_tool(PlacesAlone, "Ki Borbála?", knowledge=base, domain="tale").result is None
    assert run_tool(PlacesAlone, "Mi az az Eger?", knowledge=base, domain="tale").result is not None


def test_r4_9_labels_narrow_what_is_described(base: StoreKnowledgeBase) -> None:
    places = type("Places", (EntityAnalysisTool,), {"labels": frozenset({"LOC"})})
    found = run_tool(places, "Illés Egerbe ment?", knowledge=base, domain="tale").result
    assert found is not None
    assert [each.document_name for each in found.documents if isinstance(each, TextAnswer)] == ["Eger"]
    assert run_tool(places, "Ki az az Illés?", knowledge=base, domain="tale").result is None
