"""Chats, their turns and messages: what is written while a question is answered.

A turn takes two places in the chat's order at once, for the question and for its answer, so that turns that run at
the same time never mix. The answer's row is there from the beginning and is filled in at the end.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from sqlalchemy import and_, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from serving.state.database import Database, whole_transactions
from serving.state.errors import unknown_chat
from serving.state.places import OwnTurn, add_pair, fill_answer, put_question, take_places
from serving.state.records import Answer, BegunTurn, MessageKind, TurnStatus, storable
from serving.state.tables import chats, turns

FirstTurn: TypeAlias = Callable[[AsyncConnection, str], Awaitable[str]]
"""Takes the id of a new turn and gives that of the first one with the same key."""
LONGEST_CONTENT_TYPE = 100
LONGEST_TITLE = 80
"""Characters of the first message that become the chat's title."""
ANSWERED = "answered"
"""In a turn's kept progress: the question that its newest reply answers is no longer among the open ones."""


@whole_transactions
class ChatStore:
    """Writes the turns of this process. Every method is one short transaction."""

    def __init__(self, database: Database, server_id: str) -> None:
        self._database = database
        self._server_id = server_id

    async def begin(
        self,
        owner: str,
        request: Mapping[str, Any],
        chat_id: str | None = None,
        first_turn: FirstTurn | None = None,
    ) -> BegunTurn:
        """Enter a message and make room for its answer; a chat that is not there is made.

        `first_turn` tells which turn a request with the same key began, so that it is begun once. Raises ApiError (404)
        when the chat is somebody else's.
        """
        turn_id, now, is_new_chat = uuid.uuid4().hex, time.time(), chat_id is None
        chat_id = chat_id or uuid.uuid4().hex
        async with self._database.writing() as connection:
            known = turn_id if first_turn is None else await first_turn(connection, turn_id)
            if known != turn_id:
                return await self._begun(connection, known)
            if is_new_chat:
                await connection.execute(insert(chats).values(_new_chat(owner, chat_id, request, now)))
            else:
                await self._open_chat(connection, owner, chat_id, request, now)
            dropped = None if is_new_chat else await self._drop_question(connection, chat_id)
            first = await take_places(connection, chat_id, 2, now, domain=request["domain"])
            await connection.execute(
                insert(turns).values(
                    turn_id=turn_id,
                    chat_id=chat_id,
                    status=TurnStatus.RUNNING,
                    server_id=self._server_id,
                    request=dict(request),
                    answer_sequence=first + 1,
                )
            )
            await add_pair(connection, chat_id, turn_id, first, MessageKind.MESSAGE, request, now)
        return BegunTurn(chat_id, turn_id, first, dropped)

    async def finish(self, turn_id: str, answer: Answer) -> None:
        """Fill the answer in. Nothing happens when the chat has been deleted meanwhile."""
        async with self._database.writing() as connection:
            await self._fill(connection, turn_id, answer)

    async def checkpoint(self, turn_id: str, progress: Mapping[str, Any]) -> None:
        """Keep what a turn has done since its question was answered; a question in front is a further one."""
        own = and_(turns.c.turn_id == turn_id, turns.c.server_id == self._server_id)
        async with self._database.writing() as connection:
            await connection.execute(update(turns).where(own).values(progress={**progress, ANSWERED: True}))

    async def give_back(self, turn_id: str, so_far: Answer) -> None:
        """End a turn of this process as if it had died: its question is pending again, or the answer breaks off."""
        own = and_(turns.c.turn_id == turn_id, turns.c.server_id == self._server_id)
        async with self._database.writing() as connection:
            turn = (await connection.execute(select(turns).where(own).with_for_update())).first()
            if turn is None or not await self._ask_again(connection, turn):
                await self._fill(connection, turn_id, so_far)

    async def settle_dead(self, server_ids: list[str]) -> None:
        """Give every turn of processes that died a stated end, or its pending question back."""
        dead = and_(turns.c.status == TurnStatus.RUNNING, turns.c.server_id.in_(server_ids))
        async with self._database.writing() as connection:
            found = select(turns).where(dead).order_by(turns.c.turn_id).with_for_update()
            for turn in (await connection.execute(found)).all():
                if not await self._ask_again(connection, turn):
                    await fill_answer(
                        connection,
                        OwnTurn(turn.turn_id, turn.server_id),
                        {"status": TurnStatus.INTERRUPTED, "progress": None, "expires_at": None},
                        status=TurnStatus.INTERRUPTED,
                    )

    async def _ask_again(self, connection: AsyncConnection, turn: Any) -> bool:
        """Have the question wait that the turn went on with, or one that followed; False when there is none."""
        if not (turn.progress and turn.progress["questions"]):
            return False
        own = OwnTurn(turn.turn_id, turn.server_id)
        progress = {name: value for name, value in turn.progress.items() if name != ANSWERED}
        if ANSWERED in turn.progress:
            await put_question(connection, own, progress["questions"][0]["question"], progress=progress)
        else:
            await fill_answer(connection, own, {"status": TurnStatus.ASKING}, status=TurnStatus.INTERRUPTED)
        return True

    async def _fill(self, connection: AsyncConnection, turn_id: str, answer: Answer) -> None:
        content_type = answer.content_type
        await fill_answer(
            connection,
            OwnTurn(turn_id, self._server_id),
            {"status": answer.status, "progress": None, "expires_at": None},
            kind=MessageKind.ANSWER,
            status=answer.status,
            content=storable(answer.content),
            content_type=content_type and storable(content_type)[:LONGEST_CONTENT_TYPE],
            generation=answer.generation,
            sources=answer.sources,
            trace=answer.trace,
            introduction=answer.introduction and storable(answer.introduction),
            error=answer.error,
        )

    async def _begun(self, connection: AsyncConnection, turn_id: str) -> BegunTurn:
        of_turn = select(turns).where(turns.c.turn_id == turn_id)
        turn = (await connection.execute(of_turn)).one()
        return BegunTurn(turn.chat_id, turn_id, turn.answer_sequence - 1, is_new=False)

    async def _open_chat(
        self, connection: AsyncConnection, owner: str, chat_id: str, request: Mapping[str, Any], now: float
    ) -> None:
        own = select(chats.c.owner).where(chats.c.chat_id == chat_id).with_for_update()
        while (known := (await connection.execute(own)).scalar()) is None:
            await self._make_chat(connection, owner, chat_id, request, now)
        if known != owner:
            raise unknown_chat(chat_id)

    async def _make_chat(
        self, connection: AsyncConnection, owner: str, chat_id: str, request: Mapping[str, Any], now: float
    ) -> None:
        """Of two that make the same chat at once the first one owns it."""
        with suppress(IntegrityError):
            async with connection.begin_nested():
                await connection.execute(insert(chats).values(_new_chat(owner, chat_id, request, now)))

    async def _drop_question(self, connection: AsyncConnection, chat_id: str) -> Mapping[str, Any] | None:
        asking = and_(turns.c.chat_id == chat_id, turns.c.status == TurnStatus.ASKING)
        in_line = select(turns).where(asking).order_by(turns.c.answer_sequence)
        turn = (await connection.execute(in_line)).first()
        if turn is None:
            return None
        await connection.execute(
            update(turns).where(asking).values(status=TurnStatus.DROPPED, progress=None, expires_at=None)
        )
        question: Mapping[str, Any] = turn.progress["questions"][0]["question"]
        return question


def _new_chat(owner: str, chat_id: str, request: Mapping[str, Any], now: float) -> dict[str, Any]:
    return {
        "chat_id": chat_id,
        "owner": owner,
        "title": " ".join(storable(request["message"]).split())[:LONGEST_TITLE],
        "domain": request["domain"],
        "created_at": now,
        "updated_at": now,
        "next_sequence": 0,
    }
