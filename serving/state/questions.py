"""Questions of tools to the user: put, waiting, answered."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from serving.state.database import Database, whole_transactions
from serving.state.errors import already_answered, no_pending_question, question_expired, unknown_chat
from serving.state.places import OwnTurn, add_pair, put_question, take_places
from serving.state.records import MessageKind, ResumedTurn, TurnStatus, storable
from serving.state.tables import chats, messages, turns
from toolkit.clarification import ClarifyingQuestion


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """A question that waits for the user."""

    question: ClarifyingQuestion
    request: Mapping[str, Any]
    """The message that led to it, as it was sent."""


@whole_transactions
class QuestionStore:
    """The pending questions of all chats; of several in a chat, from messages at the same time, the first one waits."""

    def __init__(self, database: Database, server_id: str) -> None:
        self._database = database
        self._server_id = server_id

    async def ask(
        self, turn_id: str, progress: Mapping[str, Any], question: Mapping[str, Any], expires_at: float
    ) -> None:
        """Put a question to the user, with all that is needed to go on after his answer."""
        own = OwnTurn(turn_id, self._server_id)
        async with self._database.writing() as connection:
            await put_question(connection, own, question, progress=dict(progress), expires_at=expires_at)

    async def pending(self, owner: str, chat_id: str) -> PendingQuestion | None:
        """The question that waits in a chat; None while a first answer is still worked on.

        Raises ApiError: 404 for an unknown chat, 409 when no question waits or it has just been answered, 410 when it
        has expired.
        """
        async with self._database.reading() as connection:
            turn = await self._asking(connection, owner, chat_id)
        if turn is None:
            return None
        question = ClarifyingQuestion.of_wire(turn.progress["questions"][0]["question"])
        return PendingQuestion(question, turn.request)

    async def claim(self, owner: str, chat_id: str, answer: str) -> ResumedTurn | None:
        """Take the pending question for this process, with the user's answer; of two answers one gets it.

        None while a first answer is still worked on. Raises ApiError as `pending` does.
        """
        now = time.time()
        async with self._database.writing() as connection:
            turn = await self._asking(connection, owner, chat_id)
            if turn is None:
                return None
            await connection.execute(
                update(turns)
                .where(turns.c.turn_id == turn.turn_id)
                .values(status=TurnStatus.RUNNING, server_id=self._server_id)
            )
            await self._enter_reply(connection, turn, answer, now)
        return ResumedTurn(chat_id, turn.turn_id, turn.request, turn.progress)

    async def _asking(self, connection: AsyncConnection, owner: str, chat_id: str) -> Any:
        """The turn whose question waits; None while the first work on one goes on. Raises ApiError."""
        found = await connection.execute(
            select(chats.c.owner).where(chats.c.chat_id == chat_id).with_for_update()
        )
        if found.scalar() != owner:
            raise unknown_chat(chat_id)
        of_chat = select(turns).where(turns.c.chat_id == chat_id).order_by(turns.c.answer_sequence)
        rows = (await connection.execute(of_chat)).all()
        by_status = {status: [row for row in rows if row.status == status] for status in TurnStatus}
        for turn in by_status[TurnStatus.ASKING]:
            if turn.expires_at is not None and turn.expires_at <= time.time():
                raise question_expired(chat_id)
            return turn
        running = by_status[TurnStatus.RUNNING]
        if any(turn.progress for turn in running):
            raise already_answered(chat_id)
        if running:
            return None
        raise no_pending_question(chat_id)

    async def _enter_reply(self, connection: AsyncConnection, turn: Any, answer: str, now: float) -> None:
        """Add the user's answer and room for what follows, or take the room of an answer that a crash undid."""
        place = and_(messages.c.turn_id == turn.turn_id, messages.c.sequence == turn.answer_sequence)
        last = (await connection.execute(select(messages.c.kind).where(place))).scalar()
        if last == MessageKind.QUESTION:
            first = await take_places(connection, turn.chat_id, 2, now)
            reply = {"message": answer, "domain": turn.request["domain"]}
            await add_pair(connection, turn.chat_id, turn.turn_id, first, MessageKind.REPLY, reply, now)
            await connection.execute(
                update(turns).where(turns.c.turn_id == turn.turn_id).values(answer_sequence=first + 1)
            )
            return
        await connection.execute(update(messages).where(place).values(status=TurnStatus.RUNNING))
        before = and_(messages.c.turn_id == turn.turn_id, messages.c.sequence == turn.answer_sequence - 1)
        await connection.execute(update(messages).where(before).values(content=storable(answer)))
