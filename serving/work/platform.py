"""The work that outlasts a request, as one running app has it."""

from __future__ import annotations

from pathlib import Path

from serving.settings import Settings
from serving.state.state import State
from serving.work.ingestions import IngestionRunner
from serving.work.job_store import JobStore
from serving.work.records import JobKind
from serving.work.sources import IngestionSetup
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
        self.ingestions = IngestionRunner(
            JobStore(database, server_id, JobKind.INGESTION), _ingestion_setup(settings, registry)
        )

    async def opened(self) -> Work:
        """Itself, over an open state, taking work in. Raises StartupError."""
        await self._state.opened()
        self.tasks.start()
        self.ingestions.start()
        return self

    async def counts(self) -> dict[tuple[str, str], int]:
        """How many jobs there are, by kind and status."""
        stores = (self.tasks.jobs, self.ingestions.jobs)
        return {
            (store.kind, status): count
            for store in stores
            for status, count in (await store.counts()).items()
        }

    async def close(self) -> None:
        """Stop the tasks of this process, each with a stated end; ingestion runs go on by themselves."""
        await self.ingestions.close()
        await self.tasks.close()


def _ingestion_setup(settings: Settings, registry: ToolRegistry) -> IngestionSetup:
    return IngestionSetup(
        store=settings.store.absolute(),
        runs=settings.store.absolute().parent / "runs",
        roots=tuple(map(Path, settings.ingestion_roots)),
        engine=settings.ingestion_engine,
        spark_submit=settings.spark_submit,
        limits=settings.jobs,
        plugins=settings.plugins,
        tools=settings.tools,
        registry=registry,
    )
