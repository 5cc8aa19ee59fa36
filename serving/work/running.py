"""One task at work in this process."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from concurrent.futures import Executor
from typing import Any

from serving.parameters import task_request
from serving.work.progress import StoredProgress
from serving.work.records import Job, JobEnd, JobStatus, json_value
from toolkit.errors import TaskCancelledError, shown
from toolkit.execution import run_tool_method
from toolkit.kinds import AsyncTaskTool

logger = logging.getLogger(__name__)


class RunningTask:
    """A tool's `run`, and the means to end it early.

    A plain `run` cannot be forced to end: it is told by its progress, and after a grace time nobody waits for it any
    more; `holds_thread` says whether it still goes on.
    """

    def __init__(self, job: Job, tool: AsyncTaskTool[Any], executor: Executor, most_bytes: int) -> None:
        self.job = job
        self.tool = tool
        self.progress = StoredProgress(restarts_of(job))
        self._executor = executor
        self._most_bytes = most_bytes
        self._work: asyncio.Task[Any] | None = None
        self._began = threading.Event()
        self._left = threading.Event()
        self._stopped = False

    @property
    def holds_thread(self) -> bool:
        """Whether a plain `run` has begun and not returned."""
        return self._began.is_set() and not self._left.is_set()

    async def end(self) -> JobEnd:
        """Run the tool, and how that ended; INTERRUPTED when `stop` ended it."""
        try:
            request = task_request(self.tool, self.job.parameters)
            self._work = asyncio.ensure_future(self._run(request))
            result = await self._work
        except (TaskCancelledError, asyncio.CancelledError) as error:
            if self._stopped:
                return _stopped()
            if isinstance(error, TaskCancelledError):
                return _failed(error)
            raise
        except Exception as error:
            if self._stopped:
                return _stopped()
            logger.exception("task %s (%s) failed", self.job.job_id, self.job.name)
            return _failed(error)
        try:
            return JobEnd(JobStatus.SUCCEEDED, json_value(result, self._most_bytes))
        except (TypeError, ValueError) as error:
            logger.error("task %s (%s): its result cannot be kept: %s", self.job.job_id, self.job.name, error)
            message = f"the task's result cannot be kept: {error}"
            return JobEnd.of_error("RESULT_NOT_JSON", message, kind=type(error).__name__)

    def stop(self, grace_seconds: float) -> None:
        """End early: an `async run` at once, a plain one at its next report, or unheard after the grace time."""
        if self._stopped:
            return
        self._stopped = True
        self.progress.cancel()
        if self._work is None:
            return
        if inspect.iscoroutinefunction(self.tool.run):
            self._work.cancel()
        else:
            asyncio.get_running_loop().call_later(grace_seconds, self._work.cancel)

    async def _run(self, request: Any) -> Any:
        if self._stopped:
            raise TaskCancelledError("the task was cancelled")
        run = self.tool.run if inspect.iscoroutinefunction(self.tool.run) else self._call
        return await run_tool_method(run, request, self.progress, executor=self._executor)

    def _call(self, request: Any, progress: StoredProgress) -> Any:
        self._began.set()
        try:
            return self.tool.run(request, progress)
        finally:
            self._left.set()


def restarts_of(job: Job) -> int:
    """How often a task was begun again, since its server stopped or died."""
    return int((job.progress or {}).get("restarts", 0))


def _stopped() -> JobEnd:
    return JobEnd.of_error(
        "SERVER_STOPPED", "the server was stopped while the task ran", status=JobStatus.INTERRUPTED
    )


def _failed(error: Exception) -> JobEnd:
    return JobEnd.of_error("TASK_FAILED", shown(str(error)), kind=type(error).__name__)
