"""Running apps over a state that lasts, for two users, and waiting for what they do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

USERS = {"anna": "token-of-anna-0123456789", "bela": "token-of-bela-0123456789"}
PATIENCE = 60.0
"""Seconds after which a test no longer waits."""

Opened = Callable[[FastAPI], AbstractAsyncContextManager[httpx.AsyncClient]]
Ended = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def opened() -> Opened:
    """Runs an app from its start to its end, in the test's event loop; gives a client of it."""

    @asynccontextmanager
    async def run(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client,
        ):
            yield client

    return run


@pytest.fixture
def as_user() -> Callable[[str], dict[str, str]]:
    """The header by which a user calls."""
    return lambda name: {"Authorization": f"Bearer {USERS[name]}"}


@pytest.fixture
def until() -> Ended:
    """Asks for a job until it is as expected, by default until it has ended; gives it then."""

    async def wait(
        client: httpx.AsyncClient,
        address: str,
        expected: Callable[[dict[str, Any]], bool] = lambda job: job["status"] not in ("QUEUED", "RUNNING"),
        **options: Any,
    ) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while True:
            response = await client.get(address, **options)
            assert response.status_code == 200, response.text
            job: dict[str, Any] = response.json()
            if expected(job):
                return job
            assert time.monotonic() < deadline, f"still {job}"
            await asyncio.sleep(0.05)

    return wait
