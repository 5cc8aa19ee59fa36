"""Processes that know one another, and settle what a dead one left."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
import pytest
from sqlalchemy import insert, select, update

from serving.state.servers import SILENCE_SECONDS
from serving.state.state import State
from serving.state.tables import servers

OpenState = Callable[[], Awaitable[State]]


async def entered(state: State) -> set[str]:
    async with state.database.reading() as connection:
        return set((await connection.execute(select(servers.c.server_id))).scalars())


async def enter(state: State, server_id: str, **values: Any) -> None:
    here = {"host": os.uname().nodename, "pid": 1, "pid_started": 1.0, "seen_at": time.time()}
    async with state.database.writing() as connection:
        await connection.execute(insert(servers).values({"server_id": server_id, **here, **values}))


async def test_a_process_is_entered_while_it_is_there(open_state: OpenState) -> None:
    first, second = [await open_state() for _ in range(2)]
    both = {first.servers.server_id, second.servers.server_id}
    assert await entered(first) == both
    assert await second.servers.dead() == []
    await asyncio.gather(*(second.opened() for _ in range(5)))
    assert await entered(first) == both
    await second.close()
    assert await entered(first) == {first.servers.server_id}


async def test_deaths_are_seen_here_at_once_and_elsewhere_after_a_silence(state: State) -> None:
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await ended.wait()
    own_start = psutil.Process().create_time()
    await enter(state, "ended", pid=ended.pid)
    await enter(state, "number_taken", pid=os.getpid(), pid_started=own_start - 60)
    await enter(state, "living", pid=os.getpid(), pid_started=own_start)
    await enter(state, "elsewhere", host="elsewhere", pid=ended.pid)
    await enter(state, "silent", host="elsewhere", seen_at=time.time() - SILENCE_SECONDS - 1)
    assert set(await state.servers.dead()) == {"ended", "number_taken", "silent"}


async def test_what_the_dead_left_is_settled_once_and_again_after_a_failure(open_state: OpenState) -> None:
    state = await open_state()
    settled: list[list[str]] = []

    async def settle(dead: list[str]) -> None:
        settled.append(dead)
        if len(settled) == 1:
            raise OSError("the network is down")

    state.on_dead_servers(settle)
    await enter(state, "gone", pid=2**22 - 1)
    with pytest.raises(OSError, match="network"):
        await state.settle_dead()
    for _ in range(2):
        await state.settle_dead()
    assert settled == [["gone"], ["gone"]]
    assert await entered(state) == {state.servers.server_id}


async def test_one_that_was_struck_off_enters_again_with_its_next_beat(open_state: OpenState) -> None:
    first, second = [await open_state() for _ in range(2)]
    await second.servers.leave(first.servers.server_id)
    assert first.servers.server_id not in await entered(second)
    await first.servers.beat()
    assert first.servers.server_id in await entered(second)


async def test_a_beat_renews_the_time(state: State) -> None:
    async with state.database.writing() as connection:
        await connection.execute(update(servers).values(seen_at=0.0))
    await state.servers.beat()
    async with state.database.reading() as connection:
        (seen,) = (await connection.execute(select(servers.c.seen_at))).scalars()
    assert time.time() - seen < 60


async def test_a_write_is_whole_although_its_caller_leaves_and_again(state: State) -> None:
    begun = await state.chats.begin("anna", {"message": "x", "domain": "d"}, "c")
    renaming = asyncio.create_task(state.history.rename("anna", begun.chat_id, "kész"))
    for _ in range(2):
        await asyncio.sleep(0)
        renaming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await renaming
    assert (await state.history.opened("anna", "c", 1)).chat["title"] == "kész"
