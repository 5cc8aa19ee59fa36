"""The server that `bench.open_streams` measures: the chat, and what its process holds.

Run: python -m bench.open_streams_server FOLDER
"""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from typing import ClassVar

import psutil
from fastapi import FastAPI

from bench.chat_overhead import ImmediateModel, Nothing
from serving.app import create_app
from serving.server import make_server, open_listener, raise_descriptor_limit
from serving.settings import Limits, Settings
from toolkit.emitter import ProgressEvent
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.testing.knowledge import MemoryKnowledge, MemoryKnowledgeBase
from toolkit.tool import ALL, ToolCall

SNDBUF = 4096
EVENTS, LETTERS = 60, 1000
"""What the tool says: far beyond the buffers of the sockets."""


class Talkative(OrchestratorActivatedTool[Nothing]):
    """Says much, and waits while `may_end` is not set."""

    name = "talkative"
    eligible_system = ALL
    priority = 0
    request_class = Nothing
    executable_instruction = "talkative: always"
    may_end: ClassVar[asyncio.Event]

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        """None."""
        for _ in range(EVENTS):
            self.tool_progress_emitter(call.emitter).next(ProgressEvent("SAID", "x" * LETTERS))
        await self.may_end.wait()
        return None


def chat_app(folder: str) -> FastAPI:
    """The chat, with `/figures` of the process and `/hold` and `/release` for the tool."""
    settings = Settings(
        _env_file=None, port=0, state=f"sqlite:///{folder}/state.sqlite", limits=Limits(tool_seconds=600)
    )
    knowledge = MemoryKnowledgeBase(MemoryKnowledge([], domain="hospital"))
    app = create_app(settings, knowledge=knowledge, llm=ImmediateModel(), built_ins=(Talkative,), plugins=())

    @app.get("/figures")
    async def figures() -> dict[str, float]:
        gc.collect()
        process = psutil.Process()
        connections = process.net_connections("tcp")
        return {
            "descriptors": process.num_fds(),
            "connections": sum(bool(each.raddr) for each in connections),
            "tasks": len(asyncio.all_tasks()),
            "threads": process.num_threads(),
            "thousand blocks": sys.getallocatedblocks() / 1000,
            "MiB": process.memory_full_info().uss / 2**20,
        }

    @app.post("/hold")
    async def hold() -> None:
        Talkative.may_end.clear()

    @app.post("/release")
    async def release() -> None:
        Talkative.may_end.set()

    return app


async def serve(folder: str) -> None:
    """Until SIGTERM."""
    Talkative.may_end = asyncio.Event()
    app = chat_app(folder)
    settings: Settings = app.state.platform.settings
    listener = open_listener(settings)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SNDBUF)
    server = make_server(settings, app, listener, lambda url: print(url, flush=True), log_level="critical")
    await server.serve(sockets=[listener])


if __name__ == "__main__":
    raise_descriptor_limit()
    asyncio.run(serve(sys.argv[1]))
