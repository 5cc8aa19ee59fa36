"""What tools may see of the store during a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from serving.scoping import ScopedKnowledgeBase, SystemsKnowledge, scoped
from toolkit.documents import TextAnswer
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.testing.knowledge import MemoryDocument, MemoryEntity, MemoryKnowledge, MemoryKnowledgeBase
from toolkit.tool import ALL, ChatbotTool, ToolCall

WARDS = MemoryKnowledge(
    [
        MemoryDocument("Sebészet", ["A sebészet az A épületben van.", "Kelemen Anna itt dolgozik."], "wards"),
        MemoryDocument("Büfé", "A büfé is az A épületben van. Kelemen Anna ott ebédel.", "shops"),
    ],
    [MemoryEntity("Kelemen Anna"), MemoryEntity("Büfé", "ORG", ("büfé",))],
    "hospital",
)
OTHER = MemoryKnowledge([MemoryDocument("Titok", "Az A épület titkos.")], domain="other")
SHOP = WARDS.documents(["shops"])[0].document_id
WARD = WARDS.documents(["wards"])[0].document_id


def texts(documents: list[Any]) -> list[str | None]:
    return [document.text for document in documents]


def test_r1_6_a_call_without_systems_sees_those_of_the_request_alone() -> None:
    seen = SystemsKnowledge(WARDS, ["wards"])
    anna = seen.find_entities("Kelemen Anna")[0]
    assert texts(seen.search("A épület")) == ["A sebészet az A épületben van."]
    assert texts(seen.search("A épület", ["shops"])) == []
    assert texts(seen.search("A épület", ["shops", "wards"])) == ["A sebészet az A épületben van."]
    assert [each.name for each in seen.documents()] == ["Sebészet"]
    assert [each.name for each in seen.entities()] == ["Kelemen Anna"]
    assert seen.find_entities("büfé") == []
    assert texts(seen.entity_sentences(anna)) == ["Kelemen Anna itt dolgozik."]
    assert seen.neighbours(anna) == []
    assert (seen.document(SHOP), seen.headings(SHOP), seen.page(SHOP, 0)) == (None, [], [])
    assert texts(seen.page(WARD, 1)) == ["Kelemen Anna itt dolgozik."]
    assert (seen.domain, seen.generation, seen.languages) == ("hospital", 1, ("hu",))


def test_r1_6_within_a_request_no_other_domain_can_be_opened() -> None:
    base = ScopedKnowledgeBase(MemoryKnowledgeBase(WARDS, OTHER))
    assert (base.domains(), base.open("other")) == (["hospital", "other"], OTHER)
    with scoped(WARDS, ()):
        assert (base.domains(), base.open("hospital")) == (["hospital"], WARDS)
        with pytest.raises(LookupError, match="about domain 'hospital'; a tool cannot open 'other'"):
            base.open("other")
    assert base.open("other") is OTHER


class Nothing(BaseModel):
    pass


class Peeping(ChatbotTool[Nothing]):
    """Searches without passing the systems on, once at once and once after a new generation is out."""

    name = "peeping"
    eligible_system = ALL
    request_class = Nothing
    executable_instruction = "peeping: never"

    def init(self, services: Services) -> None:
        self.knowledge = services.knowledge

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        before = self.knowledge.open(call.domain)
        PUBLISH[0]()
        after = self.knowledge.open(call.domain)
        found = [document.text for document in after.search("A épület")]
        text = f"{before.generation} {after.generation} {found}"
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(text))


PUBLISH: list[Callable[[], None]] = []


async def test_r1_6_a_request_keeps_one_generation_and_its_systems(
    make_app: Any, chat: Any, knowledge_base: Any
) -> None:
    knowledge_base.stores["hospital"] = WARDS
    newer = MemoryKnowledge([MemoryDocument("Új", "Új A épület.", "wards")], domain="hospital", generation=2)
    PUBLISH[:] = [lambda: knowledge_base.stores.update(hospital=newer)]
    app = make_app(Peeping)
    for expected in ("1 1 ['A sebészet az A épületben van.']", "2 2 ['Új A épület.']"):
        events = await chat(app, "Mi van az A épületben?", toolName="peeping", systems=["wards"])
        (answer,) = (event["content"] for event in events if event["progressStatus"] == "ANSWER")
        assert answer == expected
