"""Beginning requests a few at a time, so that a burst of them holds up nobody else."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

STARTS = 8
"""Requests that may begin in one turn of the event loop; each takes about a millisecond of it."""
PACED_PATHS = "/api"


class PacedApp:
    """An ASGI app whose API requests begin a few in each turn of the event loop, in their order.

    When hundreds come in at once, running answers and the health check go on between them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._starts = asyncio.Semaphore(STARTS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PACED_PATHS):
            await self._starts.acquire()
            asyncio.get_running_loop().call_soon(self._starts.release)
        await self._app(scope, receive, send)
