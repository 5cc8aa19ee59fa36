"""The stream of events: from any thread to the client, at once, and ended when the client leaves."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from serving.errors import TurnError, turn_error
from toolkit.emitter import LLM_GENERATION, SEGMENT_BREAK, ProgressEvent
from toolkit.errors import shown

logger = logging.getLogger(__name__)

LONGEST_QUEUE = 1000
"""Events that may wait for a slow client; further ones of tools are left out, and texts joined: none is lost."""
LONGEST_JOINED = 4096
"""Characters up to which waiting texts are joined."""
KEEPALIVE = b": keep-alive\n\n"
_STOPPING = TurnError("SERVER_STOPPING", "The server is stopping; ask again shortly.")
OWN_STATUSES = frozenset(
    {"CHAT", "ANSWER", "INTERACTIVE_QUESTION", "QUESTION_DROPPED", "SOURCES", "TRACE", "DONE", "ERROR"}
)
"""Sent by the platform alone; from a tool they are left out."""

WireEvent = dict[str, Any]
"""`progressStatus`, `chatId` and what the status carries."""


class EventChannel:
    """Events of one chat on their way out, made inside the event loop; `next` serves any thread."""

    def __init__(self, chat_id: str) -> None:
        self.chat_id = chat_id
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._events: deque[bytes | WireEvent] = deque()
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._waking = self._closed = False
        self._left_out = 0

    def next(self, event: ProgressEvent) -> None:
        """The emitter that tools see: never blocks, never raises."""
        status, content = getattr(event, "progress_status", None), getattr(event, "content", None)
        if not isinstance(status, str) or not isinstance(content, str | None):
            logger.warning("a tool sent what is no event: %s", shown(event))
        elif status in OWN_STATUSES:
            logger.warning("a tool sent %s, which only the platform may send", status)
        else:
            self._take_in(status, content)

    async def send(self, status: str, fields: Mapping[str, Any] | None = None) -> None:
        """Send an event behind all that tools have sent so far; waits while the client is slow.

        Raises TypeError or ValueError when it is no JSON.
        """
        encoded = encode_event(self._wire(status, fields or {}))
        while len(self._events) >= LONGEST_QUEUE and not self._closed:
            self._room.clear()
            await self._room.wait()
        self._append(encoded)
        await asyncio.sleep(0)

    def end(self, status: str, fields: Mapping[str, Any]) -> None:
        """Send the last event without waiting for room, and close."""
        self._append(encode_event(self._wire(status, fields)))
        self.close()

    async def take(self) -> bytes:
        """All events that wait, at least one, as they stand in the stream; nothing when closed and empty."""
        while not self._events and not self._closed:
            self._changed.clear()
            if not self._events:
                await self._changed.wait()
        with self._lock:
            taken, self._events = self._events, deque()
        self._room.set()
        return b"".join(each if isinstance(each, bytes) else encode_event(each) for each in taken)

    def close(self) -> None:
        """No event is taken in from now on."""
        with self._lock:
            self._closed = True
        self._changed.set()
        self._room.set()
        if self._left_out:
            logger.warning("chat %s: %d progress events were left out", self.chat_id, self._left_out)
            self._left_out = 0

    def _take_in(self, status: str, content: str | None) -> None:
        """From any thread: keep what there is room for, and wake the event loop once for all that waits."""
        with self._lock:
            if self._closed:
                return
            if len(self._events) >= LONGEST_QUEUE:
                if status not in (LLM_GENERATION, SEGMENT_BREAK):
                    self._left_out += 1
                    return
                if self._join(status, content):
                    return
            self._events.append(self._wire(status, {} if content is None else {"content": content}))
            if self._waking:
                return
            self._waking = True
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            logger.debug("event %s came after the server had stopped", status)

    def _join(self, status: str, content: str | None) -> bool:
        last = self._events[-1]
        if (
            isinstance(last, bytes)
            or not status == last["progressStatus"] == LLM_GENERATION
            or content is None
        ):
            return False
        joined = last.get("content", "") + content
        if len(joined) <= LONGEST_JOINED:
            last["content"] = joined
        return len(joined) <= LONGEST_JOINED

    def _wake(self) -> None:
        self._waking = False
        self._changed.set()

    def _append(self, encoded: bytes) -> None:
        with self._lock:
            if not self._closed:
                self._events.append(encoded)
        self._changed.set()

    def _wire(self, status: str, fields: Mapping[str, Any]) -> WireEvent:
        return {"progressStatus": status, "chatId": self.chat_id, **fields}


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
            channel.end("ERROR", {"error": _STOPPING.to_wire()})
            raise
        except Exception as error:
            if not isinstance(error, TurnError):
                logger.exception("chat %s: the answer broke off", self._chat_id)
            await channel.send("ERROR", {"error": turn_error(error).to_wire()})
        finally:
            channel.close()

    async def _forward(self, channel: EventChannel, send: Send) -> None:
        while True:
            try:
                async with asyncio.timeout(self._keepalive_seconds):
                    body = await channel.take()
            except TimeoutError:
                await send({"type": "http.response.body", "body": KEEPALIVE, "more_body": True})
                continue
            if not body:
                break
            await send({"type": "http.response.body", "body": body, "more_body": True})
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
