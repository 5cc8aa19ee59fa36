"""Reading, renaming and deleting chats; only their owner can."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from serving.state.database import Database, whole_transactions
from serving.state.errors import unknown_chat
from serving.state.records import TurnStatus, storable
from serving.state.tables import chats, idempotency_keys, messages, turns

_TOLD = (TurnStatus.DONE, TurnStatus.INTERRUPTED)
"""Messages of these are part of the conversation."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One message of a conversation, as a model or a search needs it."""

    role: str
    """`user` or `assistant`."""
    content: str


@dataclass(frozen=True, slots=True)
class WaitingQuestion:
    """A question that waits for its answer."""

    question: Mapping[str, Any]
    expires_at: float | None


@dataclass(frozen=True, slots=True)
class OpenedChat:
    """Rows of a chat and of some of its messages, in their order."""

    chat: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]
    pending: WaitingQuestion | None


@whole_transactions
class History:
    """The chats of all owners."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def chats(
        self, owner: str, limit: int, before: tuple[float, str] | None = None
    ) -> list[dict[str, Any]]:
        """An owner's chats, the one last written to first; those before a (updated_at, chat_id)."""
        query = select(chats).where(chats.c.owner == owner)
        if before is not None:
            query = query.where(tuple_(chats.c.updated_at, chats.c.chat_id) < tuple_(*before))
        query = query.order_by(chats.c.updated_at.desc(), chats.c.chat_id.desc()).limit(limit)
        async with self._database.reading() as connection:
            return [dict(row._mapping) for row in (await connection.execute(query)).all()]

    async def opened(
        self, owner: str, chat_id: str, limit: int, after: int = -1, before: int | None = None
    ) -> OpenedChat:
        """A chat with the first messages behind place `after`, or else the last ones ahead of place `before`.

        Raises ApiError (404).
        """
        place = messages.c.sequence
        of_chat = select(messages).where(messages.c.chat_id == chat_id).limit(limit)
        if before is None:
            query = of_chat.where(place > after).order_by(place)
        else:
            query = of_chat.where(place < before).order_by(place.desc())
        async with self._database.reading() as connection:
            chat = await _owned(connection, owner, chat_id)
            rows = [dict(row._mapping) for row in (await connection.execute(query)).all()]
            pending = await _pending(connection, chat_id)
        return OpenedChat(chat, sorted(rows, key=lambda row: int(row["sequence"])), pending)

    async def before(self, chat_id: str, sequence: int, limit: int) -> list[Exchange]:
        """The newest messages before a place in a chat, oldest first; questions of tools are among them."""
        if sequence == 0:
            return []
        query = (
            select(messages.c.role, messages.c.content, messages.c.content_type)
            .where(
                messages.c.chat_id == chat_id,
                messages.c.sequence < sequence,
                messages.c.status.in_(_TOLD),
            )
            .order_by(messages.c.sequence.desc())
            .limit(limit)
        )
        async with self._database.reading() as connection:
            rows: Sequence[Any] = (await connection.execute(query)).all()
        return [
            Exchange(row.role, row.content)
            for row in reversed(rows)
            if row.content and row.content_type is None
        ]

    async def first_place(self, turn_id: str) -> int:
        """Place of the message with which a turn began."""
        query = select(func.min(messages.c.sequence)).where(messages.c.turn_id == turn_id)
        async with self._database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def answer(self, turn_id: str) -> dict[str, Any]:
        """The newest message of the assistant in a turn."""
        query = (
            select(messages)
            .where(messages.c.turn_id == turn_id, messages.c.role == "assistant")
            .order_by(messages.c.sequence.desc())
            .limit(1)
        )
        async with self._database.reading() as connection:
            return dict((await connection.execute(query)).one()._mapping)

    async def rename(self, owner: str, chat_id: str, title: str) -> dict[str, Any]:
        """Give a chat a title. Raises ApiError (404)."""
        async with self._database.writing() as connection:
            await _owned(connection, owner, chat_id)
            own = update(chats).where(chats.c.chat_id == chat_id)
            await connection.execute(own.values(title=storable(title)))
            return await _owned(connection, owner, chat_id)

    async def delete(self, owner: str, chat_id: str) -> None:
        """Take a chat out of every table. Raises ApiError (404)."""
        async with self._database.writing() as connection:
            await _owned(connection, owner, chat_id)
            await _delete(connection, chats.c.chat_id == chat_id)

    async def delete_all(self, owner: str) -> None:
        """Take all chats of an owner out of every table."""
        async with self._database.writing() as connection:
            await _delete(connection, chats.c.owner == owner)


async def _pending(connection: AsyncConnection, chat_id: str) -> WaitingQuestion | None:
    asking = (
        select(turns.c.progress, turns.c.expires_at)
        .where(turns.c.chat_id == chat_id, turns.c.status == TurnStatus.ASKING)
        .order_by(turns.c.answer_sequence)
        .limit(1)
    )
    row = (await connection.execute(asking)).first()
    if row is None or (row.expires_at is not None and row.expires_at <= time.time()):
        return None
    return WaitingQuestion(row.progress["questions"][0]["question"], row.expires_at)


async def _delete(connection: AsyncConnection, wanted: ColumnElement[bool]) -> None:
    """Rows are locked in the order in which turns lock them, or they would wait for one another."""
    chat_ids = select(chats.c.chat_id).where(wanted)
    await connection.execute(chat_ids.order_by(chats.c.chat_id).with_for_update())
    own_turns = select(turns.c.turn_id).where(turns.c.chat_id.in_(chat_ids))
    await connection.execute(delete(idempotency_keys).where(idempotency_keys.c.reference.in_(own_turns)))
    for table in (turns, messages, chats):
        await connection.execute(delete(table).where(table.c.chat_id.in_(chat_ids)))


async def _owned(connection: AsyncConnection, owner: str, chat_id: str) -> dict[str, Any]:
    row = (await connection.execute(select(chats).where(chats.c.chat_id == chat_id))).first()
    if row is None or row.owner != owner:
        raise unknown_chat(chat_id)
    return dict(row._mapping)
