"""A small knowledge store in memory, tools, and the app over them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from own_postgres import OwnPostgres, newest_programs, running_postgres

from retrieval.tools.rag import RAGRetrievalTool
from serving.app import create_app
from serving.server import StreamEndingServer, make_server, open_listener
from serving.settings import Limits, ModelSettings, Settings
from toolkit.knowledge import Knowledge
from toolkit.llm.assistant import LlmAssistant
from toolkit.testing.knowledge import MemoryDocument, MemoryEntity, MemoryKnowledge, MemoryKnowledgeBase
from toolkit.tool import ChatbotTool

HOSPITAL = (
    MemoryDocument(
        "Kardiológia.html",
        (
            "A kardiológiai szakrendelés a B épület harmadik emeletén van. A kardiológián hétfőn és szerdán "
            "Kelemen Anna rendel. Rendelési idő: hétfő és szerda 8:00–13:00. Beutaló szükséges.",
            "A szívritmuszavarok vizsgálata előjegyzés alapján történik.",
        ),
    ),
    MemoryDocument(
        "Parkolás.txt", "A betegek a kórház északi oldalán parkolhatnak. Az első fél óra díjtalan."
    ),
)
ENGLISH = (
    MemoryDocument(
        "Visitors.txt",
        "Visiting hours are from 2 pm to 6 pm. Two visitors per patient are allowed. "
        "<script>alert('x')</script> is only text.",
        language="en",
    ),
)
KELEMEN = MemoryEntity("Kelemen Anna", aliases=("Kelemen Annát",))


class ChangingKnowledgeBase:
    """Domains by name; a test puts in and takes out what it likes."""

    def __init__(self, *knowledge: Knowledge) -> None:
        self.stores = {each.domain: each for each in knowledge}

    def domains(self) -> list[str]:
        return sorted(self.stores)

    def open(self, domain: str) -> Knowledge:
        return MemoryKnowledgeBase(*self.stores.values()).open(domain)


MakeApp = Callable[..., FastAPI]


@pytest.fixture
def knowledge_base() -> ChangingKnowledgeBase:
    """A Hungarian hospital and an English domain."""
    hospital = MemoryKnowledge(HOSPITAL, (KELEMEN,), "hospital")
    return ChangingKnowledgeBase(hospital, MemoryKnowledge(ENGLISH, domain="english"))


@pytest.fixture
async def make_app(knowledge_base: ChangingKnowledgeBase) -> AsyncIterator[MakeApp]:
    """Makes an app over the small store: retrieval and further tools, a model, settings."""
    apps: list[FastAPI] = []

    def make(
        *tools: type[ChatbotTool[Any]],
        llm: LlmAssistant | None = None,
        model: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> FastAPI:
        settings.setdefault("state", "sqlite://")
        made = Settings(
            _env_file=None, llm=ModelSettings(**(model or {})), limits=Limits(**(limits or {})), **settings
        )
        built_ins = (RAGRetrievalTool, *tools)
        apps.append(create_app(made, knowledge=knowledge_base, llm=llm, built_ins=built_ins, plugins=()))
        return apps[-1]

    yield make
    for app in apps:
        await app.state.platform.state.close()


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


@pytest.fixture
def running() -> Callable[[FastAPI], Any]:
    """Runs an app on a free port in a thread; gives the server."""

    @contextmanager
    def run(app: FastAPI) -> Iterator[StreamEndingServer]:
        settings: Settings = app.state.platform.settings.model_copy(update={"port": 0})
        listener = open_listener(settings)
        ready = threading.Event()
        server = make_server(settings, app, listener, lambda url: ready.set(), log_level="warning")
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
        thread.start()
        try:
            assert ready.wait(10)
            yield server
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()

    return run


@pytest.fixture(scope="session")
def own_postgres() -> Iterator[OwnPostgres]:
    """A PostgreSQL server for the test run."""
    programs = newest_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with running_postgres(programs) as server:
        yield server


@pytest.fixture
def postgres_url(own_postgres: OwnPostgres) -> Iterator[str]:
    """An empty PostgreSQL database."""
    with own_postgres.fresh_database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def state_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database that outlives an app, of each kind that can be used."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state.sqlite"
    url: str = request.getfixturevalue("postgres_url")
    return url
