"""The events of a turn that has ended, for a request that is sent again."""

from __future__ import annotations

from serving.errors import ApiError, TurnError
from serving.events import EventChannel
from serving.state.history import History
from serving.state.records import MessageKind, TurnStatus
from toolkit.emitter import LLM_GENERATION


async def check_ended(history: History, turn_id: str) -> None:
    """Raises ApiError (409) while the first request with the same key is worked on."""
    answer = await history.answer(turn_id)
    if answer["status"] == TurnStatus.RUNNING:
        raise ApiError(409, "REQUEST_IN_PROGRESS", "The same request is being answered; read its stream.")


async def replay(history: History, turn_id: str, channel: EventChannel) -> None:
    """Send what the turn ended with: its question, or its answer and sources."""
    answer = await history.answer(turn_id)
    if answer["introduction"]:
        await channel.send(LLM_GENERATION, {"content": answer["introduction"]})
    if answer["kind"] == MessageKind.QUESTION:
        await channel.send("INTERACTIVE_QUESTION", {"question": answer["question"]})
    elif answer["content_type"] is not None:
        fields = {"content": answer["content"], "contentType": answer["content_type"]}
        await channel.send("ANSWER", fields)
    else:
        if answer["content"]:
            await channel.send(LLM_GENERATION, {"content": answer["content"]})
        if answer["sources"] is not None:
            await channel.send("SOURCES", {"sources": answer["sources"]})
    if answer["error"]:
        raise TurnError(**answer["error"])
    if answer["status"] != TurnStatus.DONE:
        message = "The answer broke off; send the message again, with another Idempotency-Key or none."
        raise TurnError(str(answer["status"]), message)
