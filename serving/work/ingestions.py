"""Ingestion runs: each a process of its own, followed by way of its files until it ends."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from dataclasses import dataclass
from typing import Any

from serving.work import process
from serving.work.job_store import JobStore
from serving.work.loop import PatientLoop
from serving.work.process import RunProcess
from serving.work.records import Job, JobEnd, JobStatus, json_value
from serving.work.run_folder import RunFolder
from serving.work.sources import IngestionSetup

logger = logging.getLogger(__name__)

TOLD_LINES = 20
"""Lines of the log that the error of a run without a report repeats."""
_TOLD = ("stage", "done", "total", "documents", "counts", "rejects")


@dataclass(eq=False, slots=True)
class _FollowedRun:
    job: Job
    folder: RunFolder
    process: RunProcess | None
    written: dict[str, Any] | None = None
    process_written: bool = False
    told_to_end_at: float | None = None


class IngestionRunner:
    """Starts waiting runs in order and follows those of this process; finds them again after a restart."""

    def __init__(self, jobs: JobStore, setup: IngestionSetup) -> None:
        self.jobs = jobs
        self.setup = setup
        self._runs: dict[str, _FollowedRun] = {}
        self._loop = PatientLoop(self._look, "the ingestion runs")

    def start(self) -> None:
        """Work in the running event loop."""
        self._loop.start()

    def wake(self) -> None:
        """Look at the runs now."""
        self._loop.wake()

    async def close(self) -> None:
        """Leave the runs to themselves; they go on, and the next server follows them."""
        await self._loop.close()

    def folder(self, job_id: str) -> RunFolder:
        """A run's working files."""
        return RunFolder(self.setup.runs / job_id)

    async def _look(self) -> None:
        for orphan in await self.jobs.orphans():
            if orphan.status is JobStatus.RUNNING and await self.jobs.adopt(orphan):
                await self._find_again(orphan)
        while len(self._runs) < self.setup.limits.concurrent_ingestions:
            job = await self.jobs.claim()
            if job is None:
                break
            await self._begin(job)
        asked = await self.jobs.cancel_requests() if self._runs else set()
        for run in tuple(self._runs.values()):
            await self._follow(run, cancelled=run.job.job_id in asked)

    async def _begin(self, job: Job) -> None:
        folder = self.folder(job.job_id)
        try:
            started = await asyncio.to_thread(self._start, job, folder)
        except Exception as error:
            logger.exception("ingestion run %s cannot be started", job.job_id)
            end = JobEnd.of_error("RUN_NOT_STARTED", str(error), kind=type(error).__name__)
            await self._finish(job, end)
            return
        self._runs[job.job_id] = _FollowedRun(job, folder, started)

    def _start(self, job: Job, folder: RunFolder) -> RunProcess:
        folder.prepare(self.setup.order(job))
        command = process.command_of(folder, self.setup.store, self.setup.engine, self.setup.spark_submit)
        return process.start(command, folder)

    async def _find_again(self, job: Job) -> None:
        """Take up a run of a server that is no more; one that had not been started waits again."""
        folder = self.folder(job.job_id)
        found = await asyncio.to_thread(_process_of, job, folder)
        if found is None and not folder.log_file.exists():
            await self.jobs.requeue(job.job_id, {})
            return
        self._runs[job.job_id] = _FollowedRun(job, folder, found)

    async def _follow(self, run: _FollowedRun, *, cancelled: bool) -> None:
        if run.process is not None and not run.process_written:
            await self.jobs.note(run.job.job_id, pid=run.process.pid, pid_started=run.process.started)
            run.process_written = True
        if cancelled:
            self._tell_to_end(run)
        alive, content = await asyncio.to_thread(_state_of, run)
        progress = json_value({name: content.get(name) for name in _TOLD}) if content else None
        if alive:
            if progress is not None and progress != run.written:
                await self.jobs.note(run.job.job_id, progress=progress)
                run.written = progress
            return
        end = await asyncio.to_thread(_end_of, run, content, cancelled)
        await self._finish(run.job, end, progress)

    def _tell_to_end(self, run: _FollowedRun) -> None:
        now = time.monotonic()
        if run.process is None:
            return
        if run.told_to_end_at is None:
            run.told_to_end_at = now
            run.process.signal(signal.SIGTERM)
        elif now - run.told_to_end_at > self.setup.limits.cancel_seconds:
            run.process.signal(signal.SIGKILL)

    async def _finish(self, job: Job, end: JobEnd, progress: dict[str, Any] | None = None) -> None:
        cancel_wins = end.status is not JobStatus.SUCCEEDED
        await self.jobs.finish(job.job_id, end, progress=progress, cancel_wins=cancel_wins)
        self._runs.pop(job.job_id, None)
        for old in await self.jobs.prune(job.owner, self.setup.limits.kept_jobs):
            await asyncio.to_thread(self.folder(old).remove)


def _process_of(job: Job, folder: RunFolder) -> RunProcess | None:
    """The process of a run, as the database, the run's file or the system knows it."""
    content = folder.progress()
    host = content.get("host", process.this_host())
    if job.pid is not None and job.pid_started is not None:
        return RunProcess(job.pid, job.pid_started, host)
    found = process.find(folder)
    if found is None and content:
        found = RunProcess(content["pid"], content["pidStarted"], host)
    return found


def _state_of(run: _FollowedRun) -> tuple[bool, dict[str, Any]]:
    """Whether it lives, and its file, which is read last so that it is whole once the run has ended."""
    alive = run.process is not None and run.process.is_alive(run.folder)
    return alive, run.folder.progress()


def _end_of(run: _FollowedRun, content: dict[str, Any], cancelled: bool) -> JobEnd:
    """How a run whose process is gone ended. Whether it published is what counts, also when it was cancelled."""
    exit_code = run.process.exit_code() if run.process else None
    if run.process is not None:
        run.process.sweep()
    if content.get("report") is not None:
        return JobEnd(JobStatus.SUCCEEDED, json_value(content["report"]))
    if cancelled:
        return JobEnd(JobStatus.CANCELLED)
    error = content.get("error")
    if error is not None:
        return JobEnd.of_error(error["code"], error["message"], kind=error["type"])
    logger.error("ingestion run %s died (exit code %s)", run.job.job_id, exit_code)
    how = "" if exit_code is None else f" with exit code {exit_code}"
    tail = "\n".join(run.folder.log_tail(TOLD_LINES))
    message = f"the run's process ended{how} and left no report. The last generation serves on. Its log ends:\n{tail}"
    failed = exit_code is not None and exit_code > 0
    return JobEnd.of_error("RUN_DIED", message, status=JobStatus.FAILED if failed else JobStatus.INTERRUPTED)
