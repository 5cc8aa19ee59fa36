"""The chat endpoints: a question, and the answer to a question of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from serving.clarifying import resume_turn
from serving.conversation import begin_turn, run_turn
from serving.events import EventChannel, EventStream, Work
from serving.identity import user_of
from serving.platform import Platform, platform_of
from serving.replay import check_ended, replay
from serving.routes.declared import BODY_PROBLEMS, Responses, problems
from serving.turns import Turn
from serving.wire import ChatRequest, ClarifyRequest, Event
from serving.work.wire import KeyHeader

router = APIRouter(prefix="/api/chatbot", tags=["chat"])


def _stream_responses(described: Mapping[int, str]) -> Responses:
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": Event.model_json_schema(by_alias=True),
    }
    event = {"type": "object", "required": ["data"], "properties": {"data": data}}
    events = {
        "description": "JSON events {progressStatus, chatId, …}: first CHAT, last DONE or ERROR.",
        "content": {"text/event-stream": {"itemSchema": event}},
    }
    return {200: events} | problems({**BODY_PROBLEMS, **described})


@router.post(
    "/chat",
    status_code=200,
    response_class=Response,
    responses=_stream_responses(
        {
            403: "TOOL_NOT_ELIGIBLE: the tool is not open to the user. ORIGIN_NOT_ALLOWED.",
            404: "UNKNOWN_DOMAIN, UNKNOWN_CHAT, UNKNOWN_TOOL.",
            409: "REQUEST_IN_PROGRESS: the first request with this key is being answered.",
            422: "EMPTY_MESSAGE, MESSAGE_TOO_LONG, UNKNOWN_LANGUAGE; TOOL_NAME_MISSING, INVALID_TOOL_PARAMETERS, "
            "TOOL_NOT_ACTIVATABLE; IDEMPOTENCY_KEY_REUSED: the key was sent with another request. INVALID_REQUEST: a "
            "field is wrong.",
            503: "STORE_UNREADABLE: the domain's store is damaged or of another version.",
        }
    ),
)
async def chat(body: ChatRequest, request: Request, idempotency_key: KeyHeader = None) -> EventStream:
    """Answer a question over a domain's documents, as a stream of events.

    The same request with the same `Idempotency-Key` is answered once: sent again, it gets that answer's events.
    """
    platform = platform_of(request)
    begun, turn = await begin_turn(platform, body, user_of(request), idempotency_key)
    if begun.is_new:
        return _stream(platform, begun.chat_id, begun.turn_id, turn, begun.dropped_question)
    history = platform.state.history
    await check_ended(history, begun.turn_id)
    return _event_stream(platform, begun.chat_id, partial(replay, history, begun.turn_id))


@router.post(
    "/clarify",
    status_code=200,
    response_class=Response,
    responses=_stream_responses(
        {
            404: "UNKNOWN_CHAT: the user has no such chat; UNKNOWN_DOMAIN: its domain is gone.",
            409: "NO_PENDING_QUESTION, QUESTION_ALREADY_ANSWERED, or STILL_WORKING.",
            410: "QUESTION_EXPIRED: the answer came too late.",
            422: "INVALID_OPTION: the answer is none of the options; EMPTY_ANSWER; or a field is wrong.",
            503: "STORE_UNREADABLE: the domain's store is damaged or of another version.",
        }
    ),
)
async def clarify(body: ClarifyRequest, request: Request) -> EventStream:
    """Answer the question that is pending in a chat; the work goes on, as the same kind of stream.

    While work still goes on in the chat, the answer waits for its end.
    """
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

    return _event_stream(platform, chat_id, work)


def _event_stream(platform: Platform, chat_id: str, work: Work) -> EventStream:
    limits = platform.settings.limits
    return EventStream(
        chat_id,
        work,
        keepalive_seconds=limits.keepalive_seconds,
        stopping=platform.stopping,
        grace_seconds=limits.shutdown_seconds,
    )
