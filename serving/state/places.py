"""The messages of a chat in their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from serving.state.records import MessageKind, TurnStatus, storable
from serving.state.tables import chats, messages, turns


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """A turn as long as a process works on it: one that was held for dead changes nothing any more."""

    turn_id: str
    server_id: str


async def take_places(
    connection: AsyncConnection, chat_id: str, count: int, now: float, **values: Any
) -> int:
    """The first of so many free places in a chat's order; further values of the chat are set with it."""
    after = await connection.execute(
        update(chats)
        .where(chats.c.chat_id == chat_id)
        .values(next_sequence=chats.c.next_sequence + count, updated_at=now, **values)
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
    connection: AsyncConnection, turn: OwnTurn, values: Mapping[str, Any], **answer: Any
) -> None:
    """Set values of a turn and of its answer's message, if the chat is still there and the turn that process's."""
    own = and_(turns.c.turn_id == turn.turn_id, turns.c.server_id == turn.server_id)
    changed = update(turns).where(own).values(**values).returning(turns.c.answer_sequence)
    sequence = (await connection.execute(changed)).scalar()
    if sequence is not None:
        place = and_(messages.c.turn_id == turn.turn_id, messages.c.sequence == sequence)
        await connection.execute(update(messages).where(place).values(**answer))


async def put_question(
    connection: AsyncConnection, turn: OwnTurn, question: Mapping[str, Any], **values: Any
) -> None:
    """Have a turn wait for the user: a question takes the place of its answer."""
    await fill_answer(
        connection,
        turn,
        {"status": TurnStatus.ASKING, **values},
        kind=MessageKind.QUESTION,
        status=TurnStatus.DONE,
        content=storable(str(question["text"])),
        question=dict(question),
    )
