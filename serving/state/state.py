"""All that lasts, as one running server has it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from sqlalchemy.engine import URL

from serving.state.chats import ChatStore
from serving.state.database import Database
from serving.state.history import History
from serving.state.questions import QuestionStore
from serving.state.servers import BEAT_SECONDS, ServerRegistry

logger = logging.getLogger(__name__)

SettleDead = Callable[[list[str]], Awaitable[None]]
"""Gives the work of processes that died, named by their server ids, a stated end."""


class State:
    """Opened at its first use, in the event loop that uses it; close it in the same one."""

    def __init__(self, url: URL) -> None:
        self.database = Database(url)
        self.servers = ServerRegistry(self.database)
        self.chats = ChatStore(self.database, self.servers.server_id)
        self.questions = QuestionStore(self.database, self.servers.server_id)
        self.history = History(self.database)
        self._settle: list[SettleDead] = [self.chats.settle_dead]
        self._opening = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None

    def on_dead_servers(self, settle: SettleDead) -> None:
        """Have it called, too, with the processes that died; call this before the state is opened."""
        self._settle.append(settle)

    async def opened(self) -> State:
        """Itself, migrated, entered, and with the work of dead processes settled. Raises StartupError."""
        if self._beating is None:
            async with self._opening:
                if self._beating is None:
                    await self.database.migrate()
                    await self.servers.beat()
                    await self.settle_dead()
                    self._beating = asyncio.create_task(self._beat())
        return self

    async def settle_dead(self) -> None:
        """Settle what processes that died left behind."""
        dead = await self.servers.dead()
        if not dead:
            return
        for settle in self._settle:
            await settle(dead)
        await self.servers.leave(*dead)
        logger.info("settled the work of processes that died: %d", len(dead))

    async def close(self) -> None:
        """Leave, and close the database."""
        if self._beating is not None:
            self._beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._beating
            self._beating = None
            await self.servers.leave()
        await self.database.close()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                await self.servers.beat()
                await self.settle_dead()
            except Exception:
                logger.exception("the state could not be reached")
