"""What tasks look like as JSON."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from fastapi import Header
from pydantic import Field

from serving.wire import Wire
from serving.work.records import Job, JobStatus

KeyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="Chosen by the client. Sent again within a day, by the same user with the same request, it gives "
        "the job that it gave at first instead of starting another one.",
    ),
]


class JobProblem(Wire):
    """Why a job did not succeed."""

    code: str
    """For programs."""
    type: str | None
    """Name of the exception's class, where there was one."""
    message: str


class TaskProgressInfo(Wire):
    """How far a task has come, in units of its own."""

    done: int
    total: int | None
    message: str


class TaskInfo(Wire):
    """A task as it stands."""

    task_id: str
    task_type: str
    status: JobStatus
    parameters: dict[str, Any]
    """As they were sent."""
    progress: TaskProgressInfo | None
    """Of the newest report; null before the first."""
    result: Any = Field(description="What the tool returned; null until the task has SUCCEEDED.")
    error: JobProblem | None
    """Of FAILED and INTERRUPTED tasks."""
    cancel_requested: bool
    """Whether cancelling was accepted; the task then ends as CANCELLED."""
    created_at: datetime.datetime
    started_at: datetime.datetime | None
    """Of the last time it was begun."""
    finished_at: datetime.datetime | None

    @classmethod
    def of(cls, job: Job) -> TaskInfo:
        """The task of a job."""
        progress = job.progress or {}
        return cls(
            task_id=job.job_id,
            task_type=job.name,
            status=job.status,
            parameters=job.parameters,
            progress=TaskProgressInfo(
                done=progress["done"], total=progress["total"], message=progress["message"]
            )
            if "done" in progress
            else None,
            result=job.result,
            error=problem_of(job),
            cancel_requested=bool(job.cancel_requested),
            created_at=utc(job.created_at),
            started_at=utc_or_none(job.started_at),
            finished_at=utc_or_none(job.finished_at),
        )


class TaskPage(Wire):
    """Some of the user's tasks, newest first."""

    tasks: tuple[TaskInfo, ...]
    next: str | None
    """Send it as `cursor` for the page behind; null on the last page."""


def problem_of(job: Job) -> JobProblem | None:
    """Why it did not succeed."""
    return None if job.error is None else JobProblem(**job.error)


def utc(seconds: float) -> datetime.datetime:
    """A time with its zone."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def utc_or_none(seconds: float | None) -> datetime.datetime | None:
    """A time that may not have come yet."""
    return None if seconds is None else utc(seconds)
