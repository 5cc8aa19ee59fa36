"""Clients that leave in the middle: all that was done for them ends, and nothing of it stays."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import httpx
import psutil
import pytest
from model_decisions import fitting, wanted_schema
from pydantic import BaseModel

from toolkit.emitter import ProgressEvent
from toolkit.execution import wait_for
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.llm.client import OpenAiAssistant
from toolkit.llm.settings import LlmSettings
from toolkit.services import Services
from toolkit.testing.model_server import (
    Exchange,
    ModelServer,
    event,
    hangs,
    running_model_server,
    says,
    streams,
)
from toolkit.tool import ALL, ToolCall

LEAVES_AT = {
    "deciding": "QUESTION_ANALYSIS",
    "async tool": "TOOL_PROGRESS:ASYNC_ASKING:BEGUN",
    "plain tool": "TOOL_PROGRESS:PLAIN_ASKING:BEGUN",
    "answering": "LLM_GENERATION",
}
"""What the model is doing, without end, when the client leaves; and the event at which it does."""
AT_ONCE = 8


async def misbehave(exchange: Exchange) -> None:
    """Decide at once, unless the question is that this hangs; say one word of an answer; texts never come."""
    schema = wanted_schema(exchange)
    if exchange.body["stream"]:
        await streams([event("Északon")], then="hang")(exchange)
    elif schema is None or "deciding" in str(exchange.body["messages"]):
        await hangs(exchange)
    else:
        await says(fitting(schema))(exchange)


class Nothing(BaseModel):
    pass


class AsyncAsking(OrchestratorActivatedTool[Nothing]):
    name = "async_asking"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "async_asking: always"

    def init(self, services: Services) -> None:
        self._llm = services.llm

    async def execute_with_result(self, call: ToolCall) -> Any:
        if "async tool" in call.user_prompt:
            self.tool_progress_emitter(call.emitter).next(ProgressEvent("BEGUN"))
            await self._llm.generate_text("q", "s")


class PlainAsking(AsyncAsking):
    name = "plain_asking"
    executable_instruction = "plain_asking: always"

    def execute_with_result(self, call: ToolCall) -> Any:  # type: ignore[override]
        if "plain tool" in call.user_prompt:
            self.tool_progress_emitter(call.emitter).next(ProgressEvent("BEGUN"))
            wait_for(self._llm.generate_text("q", "s"))


@pytest.fixture(scope="module")
def _server() -> Iterator[ModelServer]:
    with running_model_server() as server:
        yield server


@dataclass(frozen=True, slots=True)
class Count:
    """What this process holds."""

    threads: int
    descriptors: int
    connections: int
    """To the model's server."""
    memory: int
    """Bytes that Python has taken since the count began."""


@dataclass(frozen=True, slots=True)
class Chats:
    """A running server whose model never ends anything."""

    client: httpx.AsyncClient
    model: ModelServer
    loop: asyncio.AbstractEventLoop
    """The server's."""
    idle_tasks: int
    """In it, before the first client."""

    def tasks(self) -> set[asyncio.Task[Any]]:
        """Those in the server's event loop."""
        return asyncio.all_tasks(self.loop)

    async def leave(self, doing: str, *, model_is_busy: bool = False) -> None:
        """Ask, and leave at the event; or not before the model is at it, if no other client is there."""
        body = {"message": f"Hol parkolhatnak a betegek: {doing}?", "domain": "hospital"}
        async with self.client.stream("POST", "/api/chatbot/chat", json=body) as response:
            async for line in response.aiter_lines():
                if f'"progressStatus":"{LEAVES_AT[doing]}"' in line:
                    while model_is_busy and not self.model.active:  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                    return
        pytest.fail(f"the stream ended before {LEAVES_AT[doing]}")

    async def leave_often(self, times: int) -> None:
        """Leave in all ways, some clients at once."""
        turns = islice(cycle(LEAVES_AT), times)

        async def one_client() -> None:
            for doing in turns:
                await self.leave(doing)

        await asyncio.gather(*(one_client() for _ in range(AT_ONCE)))

    def count(self) -> Count:
        self.model.bodies.clear()
        self.model.headers.clear()
        gc.collect()
        port = httpx.URL(self.model.url).port
        connections = psutil.Process().net_connections("tcp")
        return Count(
            memory=tracemalloc.get_traced_memory()[0],
            threads=threading.active_count(),
            descriptors=psutil.Process().num_fds(),
            connections=sum(bool(each.raddr) and each.raddr.port == port for each in connections),
        )

    async def settled(self) -> float:
        """Seconds until the model has nothing to do and the server no more tasks than when it was idle."""
        started = time.perf_counter()
        while self.model.active or len(self.tasks()) > self.idle_tasks:
            assert time.perf_counter() - started < 10, self.tasks()
            await asyncio.sleep(0.01)
        return time.perf_counter() - started


@pytest.fixture
async def chats(
    make_app: Callable[..., Any], running: Callable[..., Any], _server: ModelServer
) -> AsyncIterator[Chats]:
    _server.reset()
    _server.script = [misbehave]
    llm = OpenAiAssistant(LlmSettings(_server.url, "m", max_concurrency=2 * AT_ONCE))
    with running(make_app(AsyncAsking, PlainAsking, llm=llm)) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            loop = server.servers[0].get_loop()
            yield Chats(client, _server, loop, len(asyncio.all_tasks(loop)))
        future = asyncio.run_coroutine_threadsafe(llm.aclose(), loop)
        await asyncio.wrap_future(future)


@pytest.mark.parametrize("doing", LEAVES_AT)
async def test_r8_4_when_the_client_leaves_all_ends_within_two_seconds(doing: str, chats: Chats) -> None:
    await chats.leave("answering")
    await chats.settled()
    before = chats.model.disconnects
    await chats.leave(doing, model_is_busy=True)
    assert await chats.settled() < 2
    assert chats.model.disconnects == before + 1


@pytest.mark.slow
async def test_r8_4_nothing_stays_of_five_hundred_clients_that_left(chats: Chats) -> None:
    tracemalloc.start()
    try:
        await chats.leave_often(10 * AT_ONCE)
        await chats.settled()
        before = chats.count()
        await chats.leave_often(500)
        seconds = await chats.settled()
        after = chats.count()
    finally:
        tracemalloc.stop()
    assert seconds < 2
    assert after.threads <= before.threads + AT_ONCE, "beyond the pool's threads"
    assert after.connections <= 2 * AT_ONCE, "beyond the pool's connections"
    assert after.descriptors <= before.descriptors + 4 * AT_ONCE, (
        "beyond the two ends of the pool's connections"
    )
    assert after.memory - before.memory < 500 * 1024, "a kilobyte for each client that left"
