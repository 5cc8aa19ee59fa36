"""The chat endpoint."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from serving.chat import ChatRun
from serving.events import EventChannel, EventStream
from serving.platform import platform_of
from serving.turns import prepare_turn
from serving.wire import ChatRequest, Problem

router = APIRouter(prefix="/api/chatbot", tags=["chat"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "JSON events {progressStatus, chatId, …}: first CHAT, last DONE or ERROR.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    404: {"model": Problem, "description": "No such domain or tool."},
    422: {"model": Problem, "description": "A field is missing or wrong."},
}


@router.post("/chat", response_class=EventStream, responses=_STREAM)
async def chat(body: ChatRequest, request: Request) -> EventStream:
    """Answer a question over a domain's documents, as a stream of events."""
    platform = platform_of(request)
    turn = await prepare_turn(platform.chat, body)

    async def work(channel: EventChannel) -> None:
        with_trace = body.trace or platform.settings.trace
        await ChatRun(platform.chat, turn, channel).run(with_trace=with_trace)

    return EventStream(
        turn.chat_id,
        work,
        keepalive_seconds=platform.settings.limits.keepalive_seconds,
        stopping=platform.stopping,
        grace_seconds=platform.settings.limits.shutdown_seconds,
    )
