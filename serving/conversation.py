"""A turn from its place in the chat to its stated end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from serving.chat import ChatRun
from serving.errors import turn_error
from serving.events import EventChannel
from serving.identity import User
from serving.platform import Platform
from serving.recording import TurnRecorder
from serving.state.records import BegunTurn, TurnStatus
from serving.turns import Turn, check_request
from serving.wire import ChatRequest
from serving.work.idempotency import IdempotencyKey, first_reference

HISTORY_MESSAGES = 40
"""Newest messages of a chat that are looked at."""
SECONDS_PER_HOUR = 3600


async def begin_turn(
    platform: Platform, request: ChatRequest, user: User, key: str | None = None
) -> tuple[BegunTurn, Turn]:
    """Check a message and enter it into its chat, once for all requests with the same key. Raises ApiError."""
    turn = await check_request(platform.chat, request, user)
    state = await platform.state.opened()
    sent = request.model_dump(mode="json")
    once = IdempotencyKey.of(user.name, "chat", key, sent)

    async def first_turn(connection: AsyncConnection, turn_id: str) -> str:
        return turn_id if once is None else await first_reference(connection, once, turn_id)

    begun = await state.chats.begin(user.name, sent, request.chat_id, first_turn)
    history = await state.history.before(begun.chat_id, begun.sequence, HISTORY_MESSAGES)
    return begun, replace(turn, history=tuple(history))


async def run_turn(
    platform: Platform,
    turn_id: str,
    turn: Turn,
    channel: EventChannel,
    dropped_question: Mapping[str, Any] | None = None,
) -> None:
    """Send the events between CHAT and DONE, and write down how the turn ended, whatever happens."""
    seconds = platform.settings.question_hours * SECONDS_PER_HOUR
    recorder = TurnRecorder(platform.state, turn_id, seconds)
    run = ChatRun(platform.chat, turn, channel, recorder)
    with platform.metrics.turn():
        try:
            if dropped_question is not None:
                await channel.send("QUESTION_DROPPED", {"question": dropped_question})
            await run.run(with_trace=turn.request.trace or platform.settings.trace)
        except asyncio.CancelledError:
            if recorder.end is None:
                broken_off = replace(run.so_far, status=TurnStatus.INTERRUPTED)
                end = recorder.give_back if platform.stopping.is_set() else recorder.finish
                await end(broken_off)
            raise
        except Exception as error:
            if recorder.end is None:
                failed = replace(run.so_far, status=TurnStatus.FAILED, error=turn_error(error).to_wire())
                await recorder.finish(failed)
            raise
        finally:
            platform.metrics.turn_ended(recorder.end or TurnStatus.FAILED)
