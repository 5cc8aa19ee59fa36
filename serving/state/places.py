"""The messages of a chat in their places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import and_, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from serving.state.records import MessageKind, TurnStatus, storable
from serving.state.tables import chats, messages, turns


async def take_places(connection: AsyncConnection, chat_id: str, count: int, now: float) -> int:
    """The first of so many free places in a chat's order."""
    after = await connection.execute(
        update(chats)
        .where(chats.c.chat_id == chat_id)
        .values(next_sequence=chats.c.next_sequence + count, updated_at=now)
        .returning(chats.c.next_sequence)
    )
    return int(after.scalar_one()) - count


async def add_pair(
    connection: AsyncConnection,
    chat_id: str,
    turn_id: str,
    first: int,
    kind: MessageKind,
    request: Mapping[str, Any],
    now: float,
) -> None:
    """A message of the user and the empty one of its answer behind it."""
    common = {"chat_id": chat_id, "turn_id": turn_id, "created_at": now, "domain": request["domain"]}
    asked = {
        "role": "user",
        "kind": kind,
        "status": TurnStatus.DONE,
        "content": storable(request["message"]),
    }
    answer = {
        "role": "assistant",
        "kind": MessageKind.ANSWER,
        "status": TurnStatus.RUNNING,
        "content": "",
    }
    await connection.execute(
        insert(messages),
        [{**common, **asked, "sequence": first}, {**common, **answer, "sequence": first + 1}],
    )


async def fill_answer(
    connection: AsyncConnection, turn_id: str, turn_status: TurnStatus, **values: Any
) -> None:
    """Set a turn's status and the values of its answer's message, if the chat is still there."""
    sequence = (
        await connection.execute(
            update(turns)
            .where(turns.c.turn_id == turn_id)
            .values(status=turn_status)
            .returning(turns.c.answer_sequence)
        )
    ).scalar()
    if sequence is not None:
        place = and_(messages.c.turn_id == turn_id, messages.c.sequence == sequence)
        await connection.execute(update(messages).where(place).values(**values))
