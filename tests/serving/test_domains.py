"""One domain and any number of its systems: what a request names, and what may reach its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from retrieval.tools.entity import EntityAnalysisTool
from toolkit.documents import TextAnswer
from toolkit.results import ToolExecutionResult
from toolkit.testing.knowledge import MemoryDocument, MemoryEntity, MemoryKnowledge
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]

NAMES = ("intranet", "web", "archive")
WARD = (
    *(MemoryDocument(f"{name}.txt", f"Kelemen Anna a {name} szerint ügyel.", system=name) for name in NAMES),
    MemoryDocument("notice.txt", "Kelemen Anna a faliújság szerint ügyel."),
)
MUSEUM = (MemoryDocument("museum.txt", "Kelemen Anna a múzeum szerint ügyel."),)
KELEMEN = MemoryEntity("Kelemen Anna")
QUESTION = "Ki az a Kelemen Anna, és mikor ügyel?"


class Nothing(BaseModel):
    pass


class Echo(ChatbotTool[Nothing]):
    """Answers with what its call names."""

    name = "echo"
    eligible_system: ClassVar[str | None] = ALL
    request_class = Nothing
    executable_instruction = "echo: true"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        named = f"{call.domain}: {', '.join(call.systems)}"
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(named))


@pytest.fixture
def app(make_app: MakeApp, knowledge_base: Any) -> Any:
    knowledge_base.stores = {
        "ward": MemoryKnowledge(WARD, (KELEMEN,), "ward"),
        "museum": MemoryKnowledge(MUSEUM, (KELEMEN,), "museum"),
    }
    return make_app(EntityAnalysisTool, Echo)


@pytest.mark.parametrize("systems", [[], ["intranet"], ["web", "intranet"]])
async def test_r1_1_a_request_names_one_domain_and_any_number_of_systems(
    app: Any, chat: Ask, systems: list[str]
) -> None:
    events = await chat(app, "x", "ward", systems=systems, toolName="echo")
    (answer,) = (event["content"] for event in events if event["progressStatus"] == "ANSWER")
    assert answer == f"ward: {', '.join(systems)}"


@pytest.mark.parametrize("domain", [None, "", ["ward", "museum"]])
async def test_r1_1_without_exactly_one_domain_a_request_is_refused(
    app: Any, client_for: Callable[..., Any], domain: Any
) -> None:
    async with client_for(app) as client:
        response = await client.post("/api/chatbot/chat", json={"message": "x", "domain": domain})
    assert response.status_code in (404, 422)


@pytest.mark.parametrize(
    ("domain", "systems", "expected"),
    [
        ("ward", [], {"intranet", "web", "archive", "faliújság"}),
        ("ward", ["intranet"], {"intranet"}),
        ("ward", ["web", "archive"], {"web", "archive"}),
        ("ward", ["unknown"], set()),
        ("museum", [], {"múzeum"}),
    ],
)
async def test_r1_6_nothing_of_other_domains_or_systems_reaches_an_answer(
    app: Any, chat: Ask, domain: str, systems: list[str], expected: set[str]
) -> None:
    events = await chat(app, QUESTION, domain, systems=systems, trace=True)
    everything = str([event for event in events if event["progressStatus"] != "TRACE"])
    assert {each for each in (*NAMES, "faliújság", "múzeum") if f"a {each} szerint" in everything} == expected
    (trace,) = (event["trace"] for event in events if event["progressStatus"] == "TRACE")
    assert {each["tool"] for each in trace["tools"]} == {"echo", "entity_analysis", "rag_retrieval"}
