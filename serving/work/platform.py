"""The work that outlasts a request, as one running app has it."""

from __future__ import annotations

from serving.settings import Settings
from serving.state.state import State
from serving.work.job_store import JobStore
from serving.work.records import JobKind
from serving.work.tasks import TaskRunner
from toolkit.registry import ToolRegistry


class Work:
    """Begun at its first use, in the event loop that uses it; close it there, before the state."""

    def __init__(self, settings: Settings, state: State, registry: ToolRegistry) -> None:
        self._state = state
        database, server_id = state.database, state.servers.server_id
        self.tasks = TaskRunner(
            JobStore(database, server_id, JobKind.TASK),
            registry,
            settings.jobs,
            settings.limits.shutdown_seconds,
        )

    async def opened(self) -> Work:
        """Itself, over an open state, taking work in. Raises StartupError."""
        await self._state.opened()
        self.tasks.start()
        return self

    async def close(self) -> None:
        """Stop the tasks of this process, each with a stated end."""
        await self.tasks.close()
