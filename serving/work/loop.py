"""A coroutine that is called again and again, whatever happens to it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often it is called."""
FAILED_SECONDS = 5.0
"""So long it rests after a failure."""


class PatientLoop:
    """Calls `look` every second, and at once when woken; a failure is logged and tried again later."""

    def __init__(self, look: Callable[[], Awaitable[None]], what: str) -> None:
        self._look = look
        self._what = what
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin in the running event loop; nothing happens when it has begun."""
        if self._task is None:
            own_context = contextvars.Context()
            self._task = asyncio.create_task(self._serve(), context=own_context)

    def wake(self) -> None:
        """Look now."""
        self._woken.set()

    async def close(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _serve(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self._look()
            except Exception:
                logger.exception("%s could not be looked after; trying again", self._what)
                await asyncio.sleep(FAILED_SECONDS)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._woken.wait()
