"""Tasks of this API process: taken from the queue in order, run at most so many at once, ended once each."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from serving.work.job_store import JobStore
from serving.work.limits import JobLimits
from serving.work.loop import PatientLoop
from serving.work.records import Job, JobEnd, JobStatus
from serving.work.running import RunningTask, restarts_of
from toolkit.activation import ToolKind
from toolkit.kinds import AsyncTaskTool
from toolkit.registry import ToolRegistry
from toolkit.threads import DaemonThreadPool

logger = logging.getLogger(__name__)

MOST_RESTARTS = 3
"""A task that is safe to repeat is begun again so often; one that was running at each death may be its cause."""
RETRY_SECONDS = 1.0
"""So long until an end that could not be written down is tried again."""


class TaskRunner:
    """Any process takes any waiting task whose type it has, so one that was queued elsewhere is never lost."""

    def __init__(
        self, jobs: JobStore, registry: ToolRegistry, limits: JobLimits, stop_seconds: float
    ) -> None:
        self.jobs = jobs
        self._registry = registry
        self._limits = limits
        self._stop_seconds = stop_seconds
        self._executor = DaemonThreadPool(limits.concurrent_tasks, name="task")
        self._running: dict[RunningTask, asyncio.Task[None]] = {}
        self._unheard: list[RunningTask] = []
        self._loop = PatientLoop(self._look, "the queue of tasks")

    def start(self) -> None:
        """Work in the running event loop."""
        self._loop.start()

    def wake(self) -> None:
        """Look at the queue now."""
        self._loop.wake()

    async def close(self) -> None:
        """Stop what runs; it ends INTERRUPTED, or waits for the next process when it is safe to repeat."""
        await self._loop.close()
        for task in self._running:
            task.stop(self._stop_seconds)
        if self._running:
            await asyncio.wait(self._running.values(), timeout=self._stop_seconds + 2 * RETRY_SECONDS)
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _look(self) -> None:
        for orphan in await self.jobs.orphans():
            await self._settle(orphan)
        await self._write_progress()
        await self._heed_cancels()
        await self._fill()

    async def _write_progress(self) -> None:
        for task in tuple(self._running):
            report = task.progress.unwritten()
            if report is not None:
                await self.jobs.note(task.job.job_id, progress=report)

    async def _heed_cancels(self) -> None:
        if not self._running:
            return
        asked = await self.jobs.cancel_requests()
        for task in tuple(self._running):
            if task.job.job_id in asked:
                task.stop(self._limits.cancel_seconds)

    async def _fill(self) -> None:
        self._unheard = [task for task in self._unheard if task.holds_thread]
        tools = self._tools()
        while tools and len(self._running) + len(self._unheard) < self._limits.concurrent_tasks:
            job = await self.jobs.claim(tools)
            if job is None:
                return
            task = RunningTask(job, tools[job.name], self._executor, self._limits.result_bytes)
            self._running[task] = asyncio.create_task(self._carry(task))

    async def _carry(self, task: RunningTask) -> None:
        """Run a task to its end and write that down, however often it takes."""
        try:
            end = await task.end()
            await self._end(task, end)
            await self.jobs.prune(task.job.owner, self._limits.kept_jobs)
        finally:
            del self._running[task]
            if task.holds_thread:
                self._unheard.append(task)
            self.wake()

    async def _end(self, task: RunningTask, end: JobEnd) -> None:
        job = task.job
        while True:
            try:
                if end.status is JobStatus.INTERRUPTED and _may_repeat(task.tool, job):
                    await self.jobs.requeue(job.job_id, _begun_again(job))
                else:
                    await self.jobs.finish(job.job_id, end, progress=task.progress.newest)
            except Exception:
                logger.exception("the end of task %s could not be written down; trying again", job.job_id)
            else:
                return
            await asyncio.sleep(RETRY_SECONDS)

    async def _settle(self, job: Job) -> None:
        """Give a task whose process is gone back to the queue, or end it; a waiting one waits on."""
        tool = self._tools().get(job.name)
        if (tool is not None and job.status is JobStatus.QUEUED) or not await self.jobs.adopt(job):
            return
        if tool is None:
            end = JobEnd.of_error("TASK_TYPE_GONE", f"there is no task type {job.name!r} any more")
        elif _may_repeat(tool, job):
            await self.jobs.requeue(job.job_id, _begun_again(job))
            return
        else:
            message = "the server died while the task ran"
            end = JobEnd.of_error("SERVER_DIED", message, status=JobStatus.INTERRUPTED)
        await self.jobs.finish(job.job_id, end)

    def _tools(self) -> dict[str, AsyncTaskTool[Any]]:
        tools = self._registry.of_kind(ToolKind.ASYNC_TASK)
        return {tool.task_type: tool for tool in tools if isinstance(tool, AsyncTaskTool)}


def _may_repeat(tool: AsyncTaskTool[Any], job: Job) -> bool:
    return tool.safe_to_repeat and restarts_of(job) < MOST_RESTARTS


def _begun_again(job: Job) -> dict[str, int]:
    return {"restarts": restarts_of(job) + 1}
