"""An OpenAI-compatible model server on 127.0.0.1 that answers, or misbehaves, as a test tells it.

with running_model_server() as server:
    server.script = [fails(503), says("Dobó István.")]
    settings = LlmSettings(base_url=server.url, model="m")
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import uvicorn

_START_SECONDS = 10.0


class Exchange:
    """One request, and the means to answer it well or badly."""

    def __init__(self, server: ModelServer, receive: Any, send: Any, headers: dict[str, str]) -> None:
        self.server = server
        self.headers = headers
        self.body: dict[str, Any] = {}
        self._receive = receive
        self._send = send

    async def read(self) -> bool:
        """Take the request's body; false when the client has left before it was there."""
        data, more = b"", True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return False
            data, more = data + message.get("body", b""), message.get("more_body", False)
        self.body = json.loads(data)
        return True

    async def respond(
        self, status: int, data: bytes, content_type: str = "application/json", **headers: str
    ) -> None:
        """A whole response; `Retry_After="1"` is the header `Retry-After: 1`."""
        await self.begin(status, content_type, **headers)
        await self._send({"type": "http.response.body", "body": data})

    async def begin(self, status: int, content_type: str, **headers: str) -> None:
        """Status and headers."""
        named = {"content-type": content_type} | {
            key.replace("_", "-"): value for key, value in headers.items()
        }
        raw = [(key.encode(), value.encode()) for key, value in named.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def write(self, data: bytes, more: bool = True) -> None:
        """A piece of the body."""
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def wait_for_disconnect(self) -> None:
        """Return when the client has left."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.server.disconnects += 1
        self.server.disconnected.set()


Behaviour: TypeAlias = Callable[[Exchange], Awaitable[None]]


class ModelServer:
    """Answers each request by the next behaviour of the script; the last one goes on.

    Settable: `script`. Readable: `url`, `bodies` and `headers` of the requests so far, `most_active` (requests
    at once), `disconnects` (clients that left while a behaviour waited) and `disconnected`, set by the first;
    `requested` is set by the first request.
    """

    def __init__(self) -> None:
        self.url = ""
        self.script: list[Behaviour] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.active = self.most_active = self.disconnects = 0
        self.disconnected = threading.Event()
        self.requested = threading.Event()

    def reset(self) -> None:
        """Forget the script and what was recorded."""
        self.script, self.bodies, self.headers = [], [], []
        self.active = self.most_active = self.disconnects = 0
        self.disconnected.clear()
        self.requested.clear()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        exchange = Exchange(self, receive, send, headers)
        if not await exchange.read():
            return
        self.bodies.append(exchange.body)
        self.headers.append(headers)
        self.requested.set()
        self.active += 1
        self.most_active = max(self.most_active, self.active)
        try:
            behaviour = self.script[min(len(self.bodies), len(self.script)) - 1]
            await behaviour(exchange)
        finally:
            self.active -= 1


def says(text: str | None, finish_reason: str | None = "stop", **message: Any) -> Behaviour:
    """An orderly completion."""

    async def behave(exchange: Exchange) -> None:
        content = {"role": "assistant", "content": text, **message}
        choice = {"index": 0, "message": content, "finish_reason": finish_reason}
        data = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        await exchange.respond(200, json.dumps(data).encode())

    return behave


def fails(status: int, message: str = "broken", code: str | None = None, **headers: str) -> Behaviour:
    """An error status."""

    async def behave(exchange: Exchange) -> None:
        data = json.dumps({"error": {"message": message, "code": code}}).encode()
        await exchange.respond(status, data, **headers)

    return behave


def replies(data: bytes, content_type: str = "application/json") -> Behaviour:
    """Status 200 with anything in it."""

    async def behave(exchange: Exchange) -> None:
        await exchange.respond(200, data, content_type)

    return behave


def event(delta: str | None, finish_reason: str | None = None, **fields: Any) -> bytes:
    """One event of a stream; `fields` are further ones of its delta."""
    choice = {"index": 0, "delta": {"content": delta, **fields}, "finish_reason": finish_reason}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


END = event(None, "stop") + b"data: [DONE]\n\n"
"""The orderly end of a stream."""


def streams(
    writes: Iterable[bytes], then: Literal["end", "hang", "break"] = "end", delay: float = 0.0
) -> Behaviour:
    """A stream of those writes, which then ends, hangs, or breaks off."""

    async def behave(exchange: Exchange) -> None:
        await exchange.begin(200, "text/event-stream")
        for data in writes:
            await exchange.write(data)
            await asyncio.sleep(delay)
        if then == "hang":
            await exchange.wait_for_disconnect()
        elif then == "break":
            raise ConnectionError("the server breaks off")
        else:
            await exchange.write(b"", more=False)

    return behave


async def hangs(exchange: Exchange) -> None:
    """No answer at all."""
    await exchange.wait_for_disconnect()


@contextmanager
def running_model_server() -> Iterator[ModelServer]:
    """The server in a thread of its own, on a free port."""
    app = ModelServer()
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="model-server", daemon=True)
    thread.start()
    give_up = time.monotonic() + _START_SECONDS
    while not server.started:
        if time.monotonic() > give_up:
            raise RuntimeError(f"the model server did not start within {_START_SECONDS:g} s")
        time.sleep(0.01)
    app.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    try:
        yield app
    finally:
        server.should_exit = True
        thread.join()
