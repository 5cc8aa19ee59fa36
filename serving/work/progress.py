"""How far a task has come, told from any thread."""

from __future__ import annotations

import threading
from typing import Any

from serving.state.records import storable
from toolkit.errors import TaskCancelledError

LONGEST_MESSAGE = 500
"""Characters of a report's message that are kept."""


class StoredProgress:
    """The `TaskProgress` of a running task. It keeps the newest report; the runner writes it down now and then."""

    def __init__(self, restarts: int = 0) -> None:
        self._restarts = restarts
        self._newest: dict[str, Any] | None = None
        self._written: dict[str, Any] | None = None
        self._cancelled = threading.Event()

    def report(self, done: int, total: int | None = None, message: str = "") -> None:
        """So many units of work of so many are done. Raises TaskCancelledError when the task is to end."""
        if self._cancelled.is_set():
            raise TaskCancelledError("the task was cancelled")
        self._newest = {
            "done": int(done),
            "total": None if total is None else int(total),
            "message": storable(str(message))[:LONGEST_MESSAGE],
            "restarts": self._restarts,
        }

    def cancel(self) -> None:
        """Let the next report raise."""
        self._cancelled.set()

    @property
    def newest(self) -> dict[str, Any] | None:
        """The newest report, and how often the task was begun again; None before the first."""
        return self._newest

    def unwritten(self) -> dict[str, Any] | None:
        """The newest report if it has not been given here before."""
        newest = self._newest
        if newest is self._written:
            return None
        self._written = newest
        return newest
