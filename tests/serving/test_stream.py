"""Streaming over a real socket: at once, kept alive, cancelled, ended with the server."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import httpx
import pytest
from pydantic import BaseModel

from toolkit.emitter import ProgressEvent
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.tool import ALL, ChatbotTool, ToolCall

BODY = {"message": "Hol parkolhatnak a betegek?", "domain": "hospital"}
LONG = 60.0
"""Seconds that nothing here may last."""


class Nothing(BaseModel):
    pass


class Waiting(OrchestratorActivatedTool[Nothing]):
    """Waits until it is cancelled, and writes down when that was."""

    name = "waiting"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "waiting: always"
    started: ClassVar[threading.Event]
    cancelled: ClassVar[threading.Event]

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        self.tool_progress_emitter(call.emitter).next(ProgressEvent("BEGUN"))
        self.started.set()
        try:
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return None


@pytest.fixture(autouse=True)
def _fresh_events() -> None:
    Waiting.started, Waiting.cancelled = threading.Event(), threading.Event()


async def read_until(response: httpx.Response, status: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            events.append(json.loads(line.removeprefix("data: ")))
            if events[-1]["progressStatus"] == status:
                break
    return events


class TalkingModel:
    """Says a word every 0.2 s, for a long time."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        return dict.fromkeys(schema["properties"])

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        return ""

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        return {}

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        try:
            for number in range(300):
                yield f"szó {number} "
                await asyncio.sleep(0.2)
        finally:
            self.closed.set()


async def test_events_leave_at_once(make_app: Callable[..., Any], running: Callable[..., Any]) -> None:
    app = make_app(llm=TalkingModel())
    with running(app) as server:
        async with (
            httpx.AsyncClient(base_url=server.url) as client,
            client.stream("POST", "/api/chatbot/chat", json=BODY) as response,
        ):
            assert response.headers["content-type"].startswith("text/event-stream")
            assert response.headers["x-accel-buffering"] == "no"
            times: list[float] = []
            async for line in response.aiter_lines():
                if '"LLM_GENERATION"' in line:
                    times.append(time.perf_counter())
                if len(times) == 5:
                    break
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert all(0.1 < gap < 0.5 for gap in gaps), gaps


async def test_when_the_client_leaves_the_model_is_cancelled_within_two_seconds(
    make_app: Callable[..., Any], running: Callable[..., Any]
) -> None:
    model = TalkingModel()
    with running(make_app(llm=model)) as server:
        async with (
            httpx.AsyncClient(base_url=server.url) as client,
            client.stream("POST", "/api/chatbot/chat", json=BODY) as response,
        ):
            await read_until(response, "LLM_GENERATION")
        assert await asyncio.to_thread(model.closed.wait, 2)


async def test_when_the_client_leaves_a_silent_tool_is_cancelled_within_two_seconds(
    make_app: Callable[..., Any], running: Callable[..., Any]
) -> None:
    with running(make_app(Waiting)) as server:
        async with (
            httpx.AsyncClient(base_url=server.url) as client,
            client.stream("POST", "/api/chatbot/chat", json=BODY) as response,
        ):
            events = await read_until(response, "TOOL_PROGRESS:WAITING:BEGUN")
            assert events[0]["progressStatus"] == "CHAT"
        assert await asyncio.to_thread(Waiting.cancelled.wait, 2)


async def test_fifteen_clients_leave_and_the_server_goes_on(
    make_app: Callable[..., Any], running: Callable[..., Any]
) -> None:
    class Blocking(Waiting):
        def execute_with_result(self, call: ToolCall) -> None:  # type: ignore[override]
            self.started.set()
            time.sleep(0.3)

    app = make_app(Blocking)
    with running(app) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=10) as client:
            for _ in range(15):
                async with client.stream("POST", "/api/chatbot/chat", json=BODY) as response:
                    await read_until(response, "CONTEXT_SEARCH")
            answer = await client.post("/api/chatbot/chat", json=BODY)
            started = time.perf_counter()
            assert (await client.get("/healthz")).status_code == 200
            assert time.perf_counter() - started < 0.1
    assert '"DONE"' in answer.text


async def test_a_silent_stream_is_kept_alive(
    make_app: Callable[..., Any], running: Callable[..., Any]
) -> None:
    with running(make_app(Waiting, limits={"keepalive_seconds": 0.1})) as server:
        async with (
            httpx.AsyncClient(base_url=server.url) as client,
            client.stream("POST", "/api/chatbot/chat", json=BODY) as response,
        ):
            comments = 0
            async for line in response.aiter_lines():
                comments += line.startswith(": ")
                if comments == 3:
                    break
    assert comments == 3


class Flooding(Waiting):
    """Says more than the buffers of a connection hold, then waits."""

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        for _ in range(900):
            self.tool_progress_emitter(call.emitter).next(ProgressEvent("SAID", "x" * 20_000))
        return await super().execute_with_result(call)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux cuts such connections off")
async def test_a_client_that_takes_nothing_in_is_cut_off(
    make_app: Callable[..., Any], running: Callable[..., Any]
) -> None:
    with running(make_app(Flooding, limits={"stall_seconds": 1, "tool_seconds": LONG})) as server:
        async with (
            httpx.AsyncClient(base_url=server.url) as client,
            client.stream("POST", "/api/chatbot/chat", json=BODY),
        ):
            assert await asyncio.to_thread(Flooding.started.wait, 5)
            assert await asyncio.to_thread(Flooding.cancelled.wait, 20)


async def test_open_streams_end_with_the_server(
    make_app: Callable[..., Any], running: Callable[..., Any]
) -> None:
    with running(make_app(Waiting, limits={"shutdown_seconds": 0.2})) as server:
        async with (
            httpx.AsyncClient(base_url=server.url) as client,
            client.stream("POST", "/api/chatbot/chat", json=BODY) as response,
        ):
            reading = asyncio.create_task(read_until(response, "ERROR"))
            assert await asyncio.to_thread(Waiting.started.wait, 5)
            server.should_exit = True
            started = time.perf_counter()
            *_, last = await reading
    assert time.perf_counter() - started < 5
    assert last["error"]["code"] == "SERVER_STOPPING"
    assert Waiting.cancelled.is_set()


async def test_a_fault_ends_the_stream_with_one_error(
    make_app: Callable[..., Any], chat: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app()
    monkeypatch.setattr(app.state.platform.chat.answerer, "answer", None)
    events = await chat(app, "Hol parkolhatnak a betegek?")
    assert [event["progressStatus"] for event in events][-2:] == ["ANSWER_GENERATION", "ERROR"]
    assert events[-1]["error"]["code"] == "INTERNAL_ERROR"
    assert "NoneType" not in str(events)


@pytest.mark.slow
async def test_a_model_server_that_is_not_there_costs_seconds_and_no_answer(
    make_app: Callable[..., Any], chat: Callable[..., Any]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    app = make_app(model={"base_url": f"http://127.0.0.1:{port}/v1", "model": "none"})
    started = time.perf_counter()
    events = await chat(app, "Hol parkolhatnak a betegek?", trace=True)
    assert time.perf_counter() - started < 15
    answer = "".join(event.get("content", "") for event in events)
    assert "A nyelvi modell most nem adott használható választ" in answer
    assert "„A betegek a kórház északi oldalán parkolhatnak.” [1]" in answer
