"""Two hundred chats at once, over sockets, from clients in processes of their own."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import many_clients
import pytest
from pydantic import BaseModel

from serving.app import WORKER_THREADS
from serving.pacing import STARTS, PacedApp
from serving.server import spare_the_collector
from toolkit.documents import TextAnswer
from toolkit.emitter import ProgressEvent
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ChatbotTool, ToolCall

CHATS = 200
ASYNC_SECONDS = 2.5
PLAIN_SECONDS = 0.1
HEALTH_SECONDS = 0.1
TIMES_LONGER = 2.5
"""Than one chat alone; the longest path is the same, the rest is the work of two hundred for one processor."""

assert PLAIN_SECONDS * CHATS / WORKER_THREADS < ASYNC_SECONDS, "the threads would be the longest path"


class Nothing(BaseModel):
    pass


class Marker(BaseModel):
    marker: str


def marker_of(text: str) -> str:
    found = re.search(r"marker\d+", text)
    assert found
    return found[0]


class AsyncSleeping(OrchestratorActivatedTool[Nothing]):
    name = "async_sleeping"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "async_sleeping: always"

    async def execute_with_result(self, call: ToolCall) -> Any:
        marker = marker_of(call.user_prompt)
        self.tool_progress_emitter(call.emitter).next(ProgressEvent("ASLEEP", marker))
        await asyncio.sleep(ASYNC_SECONDS)
        return ToolExecutionResult.as_context(self.name, [TextAnswer.of(f"async {marker}")])


class PlainSleeping(AsyncSleeping):
    name = "plain_sleeping"
    executable_instruction = "plain_sleeping: always"

    def execute_with_result(self, call: ToolCall) -> Any:  # type: ignore[override]
        marker = marker_of(call.user_prompt)
        time.sleep(PLAIN_SECONDS)
        self.tool_progress_emitter(call.emitter).next(ProgressEvent("AWAKE", marker))
        return ToolExecutionResult.as_context(self.name, [TextAnswer.of(f"plain {marker}")])


class Failing(AsyncSleeping):
    name = "failing"
    executable_instruction = "failing: always"

    async def execute_with_result(self, call: ToolCall) -> Any:
        await asyncio.sleep(0.1)
        raise RuntimeError(f"failed {marker_of(call.user_prompt)}")


class Echo(ChatbotTool[Marker]):
    """Gives the parameters with which it is called by name."""

    name = "echo"
    request_class = Marker
    executable_instruction = "echo: soha"

    def init(self, services: Services) -> None:
        self._llm = services.llm

    async def execute_with_result(self, call: ToolCall) -> Any:
        await asyncio.sleep(0.5)
        found = await self._llm.generate_tool_request(call.user_prompt, "%s", None, self)
        parameters = found.get(self.name)
        if parameters is None:
            return None
        return ToolExecutionResult.as_context(self.name, [TextAnswer.of(f"echo {parameters['marker']}")])


class Parrot:
    """A model that says the marker of its prompt, in pieces."""

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        lists = {"important_words": [marker_of(user_prompt)], "sub_queries": [user_prompt]}
        fields = schema["properties"]
        return {name: lists.get(name, [] if "items" in fields[name] else True) for name in fields} | (
            {"language": "hu"} if "language" in fields else {}
        )

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        return {}

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        return ""

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        for piece in (*marker_of(user_prompt), *(f" [{number}]" for number in range(1, 6))):
            await asyncio.sleep(0.01)
            yield piece


def chat_bodies(count: int) -> list[dict[str, Any]]:
    """Of new chats. Every second one starts a tool by name, with parameters."""
    bodies: list[dict[str, Any]] = []
    for number in range(1000, 1000 + count):
        body = {"message": f"Hol parkolhatnak? marker{number}", "domain": "hospital", "trace": True}
        named = {"toolName": "echo", "toolParameters": {"marker": f"marker{number}"}} if number % 2 else {}
        bodies.append({**body, **named, "chatId": f"marker{number}-{uuid.uuid4().hex}"})
    return bodies


def process(what: str, url: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(many_clients.__file__)), what, str(httpx.URL(url).port)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def all_at_once(url: str, bodies: Sequence[Mapping[str, Any]]) -> tuple[float, list[str]]:
    """Seconds, and the streams."""
    with process("chats", url) as clients:
        output, _ = clients.communicate(json.dumps(bodies), timeout=120)
    told = json.loads(output)
    return told["seconds"], told["streams"]


@contextmanager
def spared_collector() -> Iterator[None]:
    """As `serve` does it."""
    spare_the_collector()
    yield
    gc.unfreeze()


@contextmanager
def health_of(url: str) -> Iterator[list[float]]:
    """Asks for the server's health all the while; filled at the end with the seconds of each answer."""
    seconds: list[float] = []
    with process("health", url) as prober:
        time.sleep(0.5)
        yield seconds
        output, _ = prober.communicate(timeout=60)
    seconds.extend(json.loads(output))


def check_stream(stream: str, marker: str) -> None:
    """The chat's own marker stands wherever something of it stands, and no other."""
    events = [json.loads(line[6:]) for line in stream.split("\n\n") if line.startswith("data: ")]
    assert set(re.findall(r"marker\d+", stream)) == {marker}
    by_status = {event["progressStatus"]: event for event in events}
    assert events[-1]["progressStatus"] == "DONE"
    answer = "".join(event["content"] for event in events if event["progressStatus"] == "LLM_GENERATION")
    assert answer == f"{marker} [1] [2] [3] [4] [5]"
    texts = {source["text"] for source in by_status["SOURCES"]["sources"]}
    if int(marker[-1]) % 2:
        assert texts == {f"echo {marker}"}
        return
    assert by_status["TOOL_PROGRESS:ASYNC_SLEEPING:ASLEEP"]["content"] == marker
    assert by_status["TOOL_PROGRESS:PLAIN_SLEEPING:AWAKE"]["content"] == marker
    assert {f"async {marker}", f"plain {marker}"} <= texts
    assert f"RuntimeError: failed {marker}" in json.dumps(by_status["TRACE"])


def test_a_burst_begins_a_few_at_a_time_and_lets_others_through() -> None:
    turn, begun = 0, Counter[int]()

    async def note_turn(scope: Any, receive: Any, send: Any) -> None:
        begun[turn if scope["path"] == "/api/x" else -1] += 1

    async def burst() -> None:
        nonlocal turn
        app = PacedApp(note_turn)
        scopes = [{"type": "http", "path": path} for path in ("/api/x",) * 5 * STARTS + ("/healthz",)]
        calls = [asyncio.create_task(app(scope, None, None)) for scope in scopes]  # type: ignore[arg-type]
        while not all(call.done() for call in calls):
            await asyncio.sleep(0)
            turn += 1
            assert begun[-1] == 1, "it waits for nobody"

    asyncio.run(burst())
    del begun[-1]
    assert sum(begun.values()) == 5 * STARTS
    assert max(begun.values()) == STARTS


@pytest.mark.slow
def test_two_hundred_chats_at_once(make_app: Callable[..., Any], running: Callable[..., Any]) -> None:
    app = make_app(AsyncSleeping, PlainSleeping, Failing, Echo, llm=Parrot())
    with running(app) as server, spared_collector():
        all_at_once(server.url, chat_bodies(2))
        alone, _ = all_at_once(server.url, chat_bodies(1))
        for _ in range(3):
            bodies = chat_bodies(CHATS)
            with health_of(server.url) as health:
                together, streams = all_at_once(server.url, bodies)
            for body, stream in zip(bodies, streams, strict=True):
                check_stream(stream, marker_of(body["message"]))
            print(
                f"{alone=:.2f} s, {together=:.2f} s, of {len(health)} times healthz {max(health):.3f} s at most"
            )
            if max(health) < HEALTH_SECONDS and together < TIMES_LONGER * alone:
                return
    pytest.fail("three times; what else this machine does can spoil one or two")
