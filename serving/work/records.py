"""What the state says of jobs: tasks and ingestion runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from serving.state.records import storable


class JobKind(StrEnum):
    """What a job is."""

    TASK = "TASK"
    """An `AsyncTaskTool` at work in an API process."""
    INGESTION = "INGESTION"
    """A process of its own."""


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    INTERRUPTED = "INTERRUPTED"
    """What worked on it died or was stopped before the end."""


OPEN = (JobStatus.QUEUED, JobStatus.RUNNING)
"""All others are ends: the job changes no more."""


@dataclass(frozen=True, slots=True)
class Job:
    """A row of the table; times are seconds since 1970, UTC."""

    job_id: str
    owner: str
    kind: JobKind
    name: str
    """Task type, or name of the ingestion tool."""
    status: JobStatus
    server_id: str
    """Of the API process that took it in (QUEUED) or works on it (RUNNING)."""
    parameters: dict[str, Any]
    progress: dict[str, Any] | None
    result: Any
    error: dict[str, Any] | None
    created_at: float
    started_at: float | None
    finished_at: float | None
    pid: int | None
    pid_started: float | None
    cancel_requested: int

    @classmethod
    def of(cls, row: Any) -> Job:
        """The job in a row."""
        values = dict(row._mapping)
        values |= {"kind": JobKind(row.kind), "status": JobStatus(row.status)}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a job ended."""

    status: JobStatus
    result: Any = None
    error: dict[str, Any] | None = None

    @classmethod
    def of_error(
        cls, code: str, message: str, *, kind: str | None = None, status: JobStatus = JobStatus.FAILED
    ) -> JobEnd:
        """An end with what went wrong; `kind` names the exception's class."""
        return cls(status, error={"code": code, "type": kind, "message": storable(message)})


def json_value(value: Any, most_bytes: int | None = None) -> Any:
    """The value as JSON gives it back, with texts that every database takes.

    Raises TypeError or ValueError, with what is wrong, for what JSON cannot hold or what is longer than
    `most_bytes`.
    """
    try:
        text = storable(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if most_bytes is not None and len(text.encode()) > most_bytes:
        raise ValueError(f"as JSON it is {len(text.encode())} bytes long; at most {most_bytes} are kept")
    return json.loads(text)
