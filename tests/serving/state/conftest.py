"""Opened states on both kinds of database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from serving.state.database import database_url
from serving.state.state import State

OpenState: TypeAlias = Callable[[], Awaitable[State]]


@pytest.fixture
async def open_state(state_url: str) -> AsyncIterator[OpenState]:
    """Opens the state once more, as a further API process does; all of them are closed at the end."""
    states: list[State] = []

    async def opened() -> State:
        url = database_url(state_url, Path())
        states.append(await State(url).opened())
        return states[-1]

    yield opened
    for state in states:
        await state.close()


@pytest.fixture
async def state(open_state: OpenState) -> State:
    """One state over an empty database."""
    return await open_state()
