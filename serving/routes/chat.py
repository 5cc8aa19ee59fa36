"""The chat endpoints: a question, and the answer to a question of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request

from serving.clarifying import resume_turn
from serving.conversation import begin_turn, run_turn
from serving.events import EventChannel, EventStream
from serving.identity import user_of
from serving.platform import Platform, platform_of
from serving.turns import Turn
from serving.wire import ChatRequest, ClarifyRequest, Problem

router = APIRouter(prefix="/api/chatbot", tags=["chat"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "JSON events {progressStatus, chatId, …}: first CHAT, last DONE or ERROR.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    403: {"model": Problem, "description": "The tool is not open to the user."},
    404: {"model": Problem, "description": "No such domain, chat or tool."},
    422: {"model": Problem, "description": "A field is missing or wrong."},
}


@router.post("/chat", response_class=EventStream, responses=_STREAM)
async def chat(body: ChatRequest, request: Request) -> EventStream:
    """Answer a question over a domain's documents, as a stream of events."""
    platform = platform_of(request)
    begun, turn = await begin_turn(platform, body, user_of(request))
    return _stream(platform, begun.chat_id, begun.turn_id, turn, begun.dropped_question)


@router.post(
    "/clarify",
    response_class=EventStream,
    responses={
        **_STREAM,
        409: {"model": Problem, "description": "No question is pending, or it has been answered."},
        410: {"model": Problem, "description": "The question has expired."},
    },
)
async def clarify(body: ClarifyRequest, request: Request) -> EventStream:
    """Answer the question that is pending in a chat; the work goes on, as the same kind of stream."""
    platform = platform_of(request)
    resumed, turn = await resume_turn(platform, body, user_of(request))
    return _stream(platform, resumed.chat_id, resumed.turn_id, turn)


def _stream(
    platform: Platform,
    chat_id: str,
    turn_id: str,
    turn: Turn,
    dropped_question: Mapping[str, Any] | None = None,
) -> EventStream:
    async def work(channel: EventChannel) -> None:
        await run_turn(platform, turn_id, turn, channel, dropped_question)

    limits = platform.settings.limits
    return EventStream(
        chat_id,
        work,
        keepalive_seconds=limits.keepalive_seconds,
        stopping=platform.stopping,
        grace_seconds=limits.shutdown_seconds,
    )
