"""What the chat adds to the model's and the tools' own time, and the memory of an open chat.

Model and tools answer at once, so all time is the platform's: the history, settling, routing, two groups of tools
with the gate between them, the prompt, the stream. Beside it stands a bare FastAPI endpoint that streams as many
events of the same size. Both are called as ASGI applications, without sockets; the history is a SQLite file.

Run: python -m bench.chat_overhead [--chats 300] [--open 100] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, ClassVar

from fastapi import FastAPI
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from serving.app import create_app
from serving.settings import Limits, Settings
from toolkit.documents import TextAnswer
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.testing.knowledge import MemoryKnowledge, MemoryKnowledgeBase
from toolkit.tool import ALL, ChatbotTool, ToolCall

WORDS = 20
"""Pieces of the model's answer."""
STAGES = {
    "CHAT": "request, history",
    "QUESTION_ANALYSIS": "settle",
    "TOOL_ROUTING": "routing",
    "CONTEXT_SEARCH": "groups, gate",
    "ANSWER_GENERATION": "prompt",
    "LLM_GENERATION": "answer",
    "SOURCES": "history, end",
}
"""Status of an event, and what is done from the first one of it to the next; before CHAT, from the request on."""
BODY = json.dumps({"message": "Where do patients park?", "domain": "hospital"}).encode()


class Nothing(BaseModel):
    """No parameters."""


class Routed(ChatbotTool[Nothing]):
    """Has nothing to say."""

    name = "routed"
    eligible_system = ALL
    request_class = Nothing
    executable_instruction = "routed: always"

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """None."""
        return None


class First(OrchestratorActivatedTool[Nothing]):
    """Finds a sentence at once."""

    name = "first"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "first: always"

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """A context of one document."""
        return ToolExecutionResult.as_context(self.name, [TextAnswer.of("Patients park in the north.")])


class Second(First):
    """Of the same group."""

    name = "second"
    executable_instruction = "second: always"


class Last(First):
    """Of a later group, so that the gate is asked; waits while `hold` is not set."""

    name = "last"
    priority = 1
    executable_instruction = "last: always"
    hold: ClassVar[asyncio.Event]
    waiting: ClassVar[int] = 0

    @classmethod
    async def wait(cls) -> None:
        """Wait until `hold` is set."""
        cls.waiting += 1
        await cls.hold.wait()
        cls.waiting -= 1

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """A context of one document."""
        await self.wait()
        return ToolExecutionResult.as_context(self.name, [TextAnswer.of("The first half hour is free.")])


class ImmediateModel:
    """Decides that all is needed and nothing suffices; answers without delay."""

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A decision."""
        return {name: _decided(name, field) for name, field in schema["properties"].items()}

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        """No parameters."""
        return {}

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        """Nothing."""
        return ""

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        """The same words every time."""
        for _ in range(WORDS):
            yield "word "


def _decided(name: str, field: Mapping[str, Any]) -> Any:
    if "enum" in field:
        return field["enum"][-1]
    return [] if field.get("type") == "array" else name != "suffices"


def chat_app(folder: str) -> FastAPI:
    """The chat over an empty store, with tools of its own, and its history in the folder."""
    knowledge = MemoryKnowledgeBase(MemoryKnowledge([], domain="hospital"))
    built_ins = (Routed, First, Second, Last)
    limits = Limits(tool_seconds=600)
    settings = Settings(_env_file=None, state=f"sqlite:///{folder}/state.sqlite", limits=limits)
    return create_app(settings, knowledge=knowledge, llm=ImmediateModel(), built_ins=built_ins, plugins=())


def bare_app(events: list[bytes]) -> FastAPI:
    """One endpoint that streams these events; like the chat it waits before the last one while `hold` is not set."""
    app = FastAPI()

    async def stream() -> AsyncIterator[bytes]:
        for event in events[:-1]:
            yield event
            await asyncio.sleep(0)
        await Last.wait()
        yield events[-1]

    class Question(BaseModel):
        message: str
        domain: str

    async def chat(body: Question) -> StreamingResponse:
        return StreamingResponse(stream(), media_type="text/event-stream")

    chat.__annotations__["body"] = Question
    app.post("/api/chatbot/chat")(chat)
    return app


async def ask(app: FastAPI, on_events: Callable[[bytes], None]) -> None:
    """One request, as a server would hand it over."""
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/chatbot/chat",
        "raw_path": b"/api/chatbot/chat",
        "query_string": b"",
        "root_path": "",
        "headers": [*headers, (b"content-length", str(len(BODY)).encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }
    requests = iter([{"type": "http.request", "body": BODY, "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in requests:
            return message
        return await asyncio.get_running_loop().create_future()

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.body":
            on_events(message.get("body", b""))

    await app(scope, receive, send)  # type: ignore[arg-type]


async def milliseconds(app: FastAPI, count: int) -> float:
    """Of one chat, of the processor, in the median of ten rounds."""
    rounds = []
    for _ in range(10):
        began = time.process_time()
        for _ in range(count // 10):
            await ask(app, lambda data: None)
        rounds.append((time.process_time() - began) * 1000 / (count // 10))
    return statistics.median(rounds)


async def stages(app: FastAPI, count: int) -> dict[str, float]:
    """Milliseconds from the first event of each stage to that of the next, in the median."""
    taken: dict[str, list[float]] = {name: [] for name in STAGES.values()}
    for _ in range(count):
        moments = [(STAGES["CHAT"], time.perf_counter())]

        def note(data: bytes, moments: list[tuple[str, float]] = moments) -> None:
            for status, name in STAGES.items():
                if f'"{status}"'.encode() in data and name not in dict(moments):
                    moments.append((name, time.perf_counter()))

        await ask(app, note)
        ends = [*moments[1:], ("", time.perf_counter())]
        for (name, begun), (_, ended) in zip(moments, ends, strict=True):
            taken[name].append((ended - begun) * 1000)
    return {name: statistics.median(each) for name, each in taken.items() if each}


async def kibibytes_open(app: FastAPI, count: int) -> float:
    """Of one chat that waits."""
    Last.hold.clear()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    chats = [asyncio.create_task(ask(app, lambda data: None)) for _ in range(count)]
    while Last.waiting < count:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not any(chat.done() for chat in chats)
    Last.hold.set()
    await asyncio.gather(*chats)
    return (after - before) / count / 1024


async def measure(count: int, open_count: int) -> dict[str, Any]:
    """All figures."""
    Last.hold = asyncio.Event()
    Last.hold.set()
    with tempfile.TemporaryDirectory() as folder:
        chat = chat_app(folder)
        async with chat.router.lifespan_context(chat):
            return await _figures(chat, count, open_count)


async def _figures(chat: FastAPI, count: int, open_count: int) -> dict[str, Any]:
    pieces: list[bytes] = []
    await ask(chat, pieces.append)
    events = [event + b"\n\n" for event in b"".join(pieces).split(b"\n\n") if event]
    bare = bare_app(events)
    for app in (chat, bare):
        await milliseconds(app, 50)
    apps = {"chat": chat, "bare": bare}
    return {
        "events": len(events),
        "ms of the processor": {name: await milliseconds(app, count) for name, app in apps.items()},
        "KiB an open chat": {name: await kibibytes_open(app, open_count) for name, app in apps.items()},
        "stages, ms": await stages(chat, count // 5),
    }


def main() -> None:
    """Print a table, or a JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=300)
    parser.add_argument("--open", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments.chats, arguments.open))
    if arguments.json:
        print(json.dumps(figures))
        return
    print(f"{figures['events']} events a chat{'':14}{'chat':>10}{'bare':>10}{'ratio':>8}")
    for name in ("ms of the processor", "KiB an open chat"):
        chat, bare = figures[name]["chat"], figures[name]["bare"]
        print(f"{name:30}{chat:>10.2f}{bare:>10.2f}{chat / bare:>8.1f}")
    for name, value in figures["stages, ms"].items():
        print(f"  {name:28}{value:>10.2f}")


if __name__ == "__main__":
    main()
