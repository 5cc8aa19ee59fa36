"""The stream of events: from any thread to the client, at once, and ended when the client leaves."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from serving.errors import TurnError
from toolkit.emitter import ProgressEvent

logger = logging.getLogger(__name__)

LONGEST_QUEUE = 1000
"""Events that may wait for a slow client; further progress events are left out, texts never."""
KEEPALIVE = b": keep-alive\n\n"
OWN_STATUSES = frozenset({"CHAT", "ANSWER", "INTERACTIVE_QUESTION", "SOURCES", "TRACE", "DONE", "ERROR"})
"""Sent by the platform alone; from a tool they are left out."""

WireEvent = dict[str, Any]
"""`progressStatus`, `chatId` and what the status carries."""


class EventChannel:
    """Events of one chat on their way out, made inside the event loop; `next` serves any thread."""

    def __init__(self, chat_id: str) -> None:
        self.chat_id = chat_id
        self._loop = asyncio.get_running_loop()
        self._events: deque[WireEvent] = deque()
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._closed = False

    def next(self, event: ProgressEvent) -> None:
        """The emitter that tools see: never blocks, never raises."""
        if event.progress_status in OWN_STATUSES:
            logger.warning("a tool sent %s, which only the platform may send", event.progress_status)
            return
        fields = {} if event.content is None else {"content": event.content}
        try:
            self._loop.call_soon_threadsafe(self._append, event.progress_status, fields)
        except RuntimeError:
            logger.debug("event %s came after the server had stopped", event.progress_status)

    async def send(self, status: str, fields: Mapping[str, Any] | None = None) -> None:
        """Send an event behind all that tools have sent so far; waits while the client is slow."""
        await asyncio.sleep(0)
        while len(self._events) >= LONGEST_QUEUE and not self._closed:
            self._room.clear()
            await self._room.wait()
        self._append(status, fields or {})

    async def take(self) -> WireEvent | None:
        """The next event; None when the channel is closed and empty."""
        while not self._events:
            if self._closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        self._room.set()
        return self._events.popleft()

    def close(self) -> None:
        """No event is taken in from now on."""
        self._closed = True
        self._changed.set()
        self._room.set()

    def _append(self, status: str, fields: Mapping[str, Any]) -> None:
        droppable = status.startswith("TOOL_PROGRESS:")
        if self._closed or (droppable and len(self._events) >= LONGEST_QUEUE):
            return
        self._events.append({"progressStatus": status, "chatId": self.chat_id, **fields})
        self._changed.set()


Work = Callable[[EventChannel], Awaitable[None]]
"""Sends the events of one answer; DONE and ERROR are sent for it."""


class EventStream(Response):
    """A `text/event-stream` of what the work sends, from CHAT to exactly one DONE or ERROR.

    The work runs in a task of its own. It is cancelled when the client leaves, or `grace_seconds` after
    `stopping` is set, and the response ends only when the task has ended.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        chat_id: str,
        work: Work,
        *,
        keepalive_seconds: float,
        stopping: asyncio.Event,
        grace_seconds: float,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._chat_id = chat_id
        self._work = work
        self._keepalive_seconds = keepalive_seconds
        self._stopping = stopping
        self._grace_seconds = grace_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        channel = EventChannel(self._chat_id)
        work = asyncio.create_task(self._run(channel))
        guards = [
            asyncio.create_task(_cancel_on_disconnect(receive, work, channel)),
            asyncio.create_task(_cancel_on_stop(self._stopping, self._grace_seconds, work)),
        ]
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._forward(channel, send)
        except OSError:
            logger.info("chat %s: the client has left", self._chat_id)
        finally:
            channel.close()
            for task in (work, *guards):
                task.cancel()
            await asyncio.gather(work, *guards, return_exceptions=True)

    async def _run(self, channel: EventChannel) -> None:
        try:
            await channel.send("CHAT")
            await self._work(channel)
            await channel.send("DONE")
        except asyncio.CancelledError:
            channel._append("ERROR", _error("SERVER_STOPPING", "The server is stopping; ask again shortly."))
            raise
        except TurnError as error:
            await channel.send("ERROR", _error(error.code, error.message))
        except Exception:
            logger.exception("chat %s: the answer broke off", self._chat_id)
            message = "The answer broke off because of a fault in the server; its log tells more."
            await channel.send("ERROR", _error("INTERNAL_ERROR", message))
        finally:
            channel.close()

    async def _forward(self, channel: EventChannel, send: Send) -> None:
        taking = asyncio.ensure_future(channel.take())
        try:
            while True:
                done, _ = await asyncio.wait({taking}, timeout=self._keepalive_seconds)
                if not done:
                    await send({"type": "http.response.body", "body": KEEPALIVE, "more_body": True})
                    continue
                event = taking.result()
                if event is None:
                    break
                await send({"type": "http.response.body", "body": encode_event(event), "more_body": True})
                taking = asyncio.ensure_future(channel.take())
        finally:
            taking.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def encode_event(event: WireEvent) -> bytes:
    """The event as it stands in the stream: one `data:` line of JSON."""
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return b"data: " + text.encode("utf-8", "replace") + b"\n\n"


async def _cancel_on_disconnect(receive: Receive, work: asyncio.Task[None], channel: EventChannel) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    logger.info("chat %s: the client has left", channel.chat_id)
    channel.close()
    work.cancel()


async def _cancel_on_stop(stopping: asyncio.Event, grace: float, work: asyncio.Task[None]) -> None:
    await stopping.wait()
    await asyncio.sleep(grace)
    work.cancel()


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}
