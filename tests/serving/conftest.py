"""A small knowledge store in memory, tools, and the app over them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from ner.text.tokens import fold, words
from serving.app import create_app
from serving.orchestrator import DefaultOrchestrator
from serving.settings import Limits, Settings
from toolkit.activation import ToolKind, active_tools, closest_tools, kind_of
from toolkit.documents import UniqueTextDocument
from toolkit.emitter import ProgressEvent
from toolkit.errors import ToolNotActivatableError, UnknownToolError
from toolkit.kinds import MAX_PRIORITY, OrchestratorActivatedTool, OrchestratorTool
from toolkit.knowledge import Entity, Knowledge, KnowledgeBase, Neighbour
from toolkit.llm.assistant import LlmAssistant
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ChatbotTool, ToolCall

T = TypeVar("T")

HOSPITAL = {
    "Kardiológia.html": [
        ["A kardiológiai szakrendelés a B épület harmadik emeletén van.",
         "A kardiológián Dr. Kelemen Anna rendel hétfőn és szerdán.",
         "Rendelési idő: hétfő és szerda 8:00–13:00.",
         "Beutaló szükséges."],
        ["A szívritmuszavarok vizsgálata előjegyzés alapján történik."],
    ],
    "Parkolás.txt": [
        ["A betegek a kórház északi oldalán parkolhatnak.", "Az első fél óra díjtalan."],
    ],
}  # fmt: skip
ENGLISH = {
    "Visitors.txt": [
        ["Visiting hours are from 2 pm to 6 pm.", "Two visitors per patient are allowed.",
         "<script>alert('x')</script> is only text."],
    ],
}  # fmt: skip


class SmallKnowledge:
    """A few sentences; a search counts shared five-letter beginnings."""

    def __init__(self, domain: str, texts: Mapping[str, list[list[str]]], generation: int = 1) -> None:
        self.domain = domain
        self.generation = generation
        self.languages: tuple[str, ...] = ("en",) if domain == "english" else ("hu",)
        self.sentences = [
            UniqueTextDocument(2**53 + 1 + number, name, None, page, at, text, 0.0)
            for number, (name, pages) in enumerate(texts.items())
            for page, sentences in enumerate(pages)
            for at, text in enumerate(sentences)
        ]

    def search(self, query: str, systems: Sequence[str] = (), limit: int = 10) -> list[UniqueTextDocument]:
        wanted = {fold(word)[:5] for word in words(query) if len(word) > 2}
        scored = [
            replace(each, sentence_score=float(len(wanted & {fold(word)[:5] for word in words(each.text)})))
            for each in self.sentences
        ]
        found = [each for each in scored if each.sentence_score]
        return sorted(found, key=lambda each: (-each.sentence_score, each))[:limit]

    def with_neighbours(
        self, documents: Sequence[UniqueTextDocument], before: int = 1, after: int = 1
    ) -> list[UniqueTextDocument]:
        return sorted(documents)

    def page(self, document_id: int, page: int) -> list[UniqueTextDocument]:
        return [each for each in self.sentences if (each.document_id, each.page) == (document_id, page)]

    def find_entities(self, text: str, systems: Sequence[str] = (), limit: int = 5) -> list[Entity]:
        kelemen = Entity(2**53 + 9, "Kelemen Anna", "PER", ("Kelemen Anna", "Kelemen Annát"), 3, 1)
        return [kelemen] if "kelemen" in fold(text) else []

    def entity_sentences(
        self, entity: Entity, systems: Sequence[str] = (), limit: int = 10
    ) -> list[UniqueTextDocument]:
        return self.search(entity.name)

    def neighbours(self, entity: Entity, systems: Sequence[str] = (), limit: int = 10) -> list[Neighbour]:
        return []


class SmallKnowledgeBase:
    """Domains by name."""

    def __init__(self, *knowledge: SmallKnowledge) -> None:
        self.stores = {each.domain: each for each in knowledge}

    def domains(self) -> list[str]:
        return sorted(self.stores)

    def open(self, domain: str) -> Knowledge:
        if domain not in self.stores:
            raise LookupError(f"no domain {domain!r}")
        return self.stores[domain]


class Query(BaseModel):
    query: str | None = None


class SmallSearchTool(OrchestratorActivatedTool[Query]):
    """The retrieval fallback."""

    name = "small_search"
    eligible_system = ALL
    request_class = Query
    priority = MAX_PRIORITY
    executable_instruction = "small_search: always"

    def init(self, services: Services) -> None:
        self._services = services

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        knowledge = self._services.knowledge.open(call.domain)
        self.tool_progress_emitter(call.emitter).next(ProgressEvent("SEARCHING"))
        found = knowledge.search(call.user_prompt, call.systems)
        return ToolExecutionResult.as_context(self.name, found) if found else None


@dataclass
class SmallPlatform:
    """Tools by list: both what they get at `init` and what the chat asks for them."""

    tools: list[ChatbotTool[Any]]
    knowledge: KnowledgeBase
    llm: LlmAssistant
    orchestrators: list[type[OrchestratorTool[Any]]] = field(default_factory=lambda: [DefaultOrchestrator])

    def get(self, tool_class: type[T]) -> T:
        return next(tool for tool in self.tools if isinstance(tool, tool_class))

    def settings(self, section: str) -> Mapping[str, Any]:
        return {}

    def orchestrated_tools(
        self, domain: str, systems: Sequence[str]
    ) -> Sequence[OrchestratorActivatedTool[Any]]:
        return self.orchestrated(domain, systems)

    def routed(self, domain: str, systems: Sequence[str]) -> list[ChatbotTool[Any]]:
        routed = [tool for tool in self.tools if kind_of(tool) is ToolKind.ROUTED]
        return list(active_tools(routed, domain, systems))

    def orchestrated(self, domain: str, systems: Sequence[str]) -> list[OrchestratorActivatedTool[Any]]:
        kind = [tool for tool in self.tools if isinstance(tool, OrchestratorActivatedTool)]
        return list(active_tools(kind, domain, systems))

    def new_orchestrator(self, domain: str, systems: Sequence[str]) -> OrchestratorTool[Any]:
        made = [each() for each in self.orchestrators]
        chosen = closest_tools(active_tools(made, domain, systems))[-1]
        chosen.init(self)
        return chosen

    def named(self, name: str, domain: str, systems: Sequence[str]) -> ChatbotTool[Any]:
        found = [tool for tool in self.tools if tool.name == name]
        if not found:
            raise UnknownToolError(f"no tool {name!r}; there are {[tool.name for tool in self.tools]}")
        if not active_tools(found, domain, systems):
            raise ToolNotActivatableError(f"tool {name!r} does not serve domain {domain!r}")
        return found[0]


MakeApp = Callable[..., FastAPI]


@pytest.fixture
def knowledge_base() -> SmallKnowledgeBase:
    """A Hungarian hospital and an English domain."""
    return SmallKnowledgeBase(SmallKnowledge("hospital", HOSPITAL), SmallKnowledge("english", ENGLISH))


@pytest.fixture
def make_app(knowledge_base: SmallKnowledgeBase) -> MakeApp:
    """Makes an app over the small store, with more tools, other orchestrators, a model, settings."""

    def make(
        *tools: ChatbotTool[Any],
        llm: LlmAssistant | None = None,
        orchestrators: Sequence[type[OrchestratorTool[Any]]] = (),
        limits: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> FastAPI:
        from serving.explicit import ParameterAwareAssistant
        from serving.offline.assistant import OfflineAssistant

        platform = SmallPlatform(
            [SmallSearchTool(), *tools], knowledge_base, ParameterAwareAssistant(llm or OfflineAssistant())
        )
        platform.orchestrators.extend(orchestrators)
        for tool in platform.tools:
            tool.init(platform)
        made = Settings(_env_file=None, limits=Limits(**(limits or {})), **settings)
        return create_app(made, knowledge=knowledge_base, toolbox=platform, llm=llm)

    return make


@pytest.fixture
def client_for() -> Callable[[FastAPI], httpx.AsyncClient]:
    """An HTTP client of an app, without a socket."""

    def client(app: FastAPI, **options: Any) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765", **options)

    return client


@pytest.fixture
def events_of() -> Callable[[httpx.Response], AsyncIterator[dict[str, Any]]]:
    """The JSON events of a stream."""

    async def events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))

    return events


@pytest.fixture
def chat(
    client_for: Callable[[FastAPI], httpx.AsyncClient],
) -> Callable[..., Any]:
    """Asks an app a question and gives all events."""

    async def ask(
        app: FastAPI, message: str, domain: str = "hospital", **fields: Any
    ) -> list[dict[str, Any]]:
        async with client_for(app) as client:
            body = {"message": message, "domain": domain, **fields}
            response = await client.post("/api/chatbot/chat", json=body)
        assert response.status_code == 200, response.text
        lines = [line for line in response.text.split("\n\n") if line.startswith("data: ")]
        return [json.loads(line.removeprefix("data: ")) for line in lines]

    return ask
