"""Which API processes work on the state, and which of them have died."""

from __future__ import annotations

import os
import socket
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import psutil
from sqlalchemy import delete, insert, select, update

from serving.state.database import Database, whole_transactions
from serving.state.tables import servers

BEAT_SECONDS = 5.0
"""How often a process says that it lives."""
SILENCE_SECONDS = 30.0
"""After so long a process of another machine is held for dead; one of this machine is looked for."""
_STARTED_TOLERANCE = 1.0
"""Seconds by which a process's start may be told differently."""


@whole_transactions
@dataclass(frozen=True, slots=True)
class ServerRegistry:
    """This process among the others."""

    database: Database
    server_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def beat(self) -> None:
        """Say that this process lives; it is entered when it is not there, or was struck off as dead."""
        own = servers.c.server_id == self.server_id
        async with self.database.writing() as connection:
            changed = await connection.execute(update(servers).where(own).values(seen_at=time.time()))
            if not changed.rowcount:
                await connection.execute(insert(servers).values(self._row()))

    def _row(self) -> dict[str, Any]:
        pid = os.getpid()
        return {
            "server_id": self.server_id,
            "host": socket.gethostname(),
            "pid": pid,
            "pid_started": psutil.Process(pid).create_time(),
            "seen_at": time.time(),
        }

    async def dead(self) -> list[str]:
        """Ids of the processes that ended without leaving."""
        async with self.database.reading() as connection:
            rows = (await connection.execute(select(servers))).all()
        here, now = socket.gethostname(), time.time()
        return [
            row.server_id
            for row in rows
            if row.server_id != self.server_id
            and (
                not is_running(row.pid, row.pid_started)
                if row.host == here
                else now - row.seen_at > SILENCE_SECONDS
            )
        ]

    async def leave(self, *server_ids: str) -> None:
        """Strike processes off whose work has been settled: by default this one."""
        async with self.database.writing() as connection:
            await connection.execute(
                delete(servers).where(servers.c.server_id.in_(server_ids or (self.server_id,)))
            )


def is_running(pid: int, started: float) -> bool:
    """Whether that very process still runs, and not another one under its number."""
    try:
        process = psutil.Process(pid)
        alive = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        return bool(alive and abs(process.create_time() - started) < _STARTED_TOLERANCE)
    except psutil.Error:
        return False
