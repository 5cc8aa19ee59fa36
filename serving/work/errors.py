"""What can be wrong with a request about a job, each with its code."""

from __future__ import annotations

from serving.errors import ApiError, shortened
from serving.work.records import Job, JobKind

_NOUNS = {JobKind.TASK: "task", JobKind.INGESTION: "ingestion run"}


def unknown_job(kind: JobKind, job_id: str) -> ApiError:
    """Also for a job of somebody else: that it exists is not told."""
    code = "UNKNOWN_TASK" if kind is JobKind.TASK else "UNKNOWN_INGESTION"
    return ApiError(404, code, f"There is no {_NOUNS[kind]} {shortened(job_id)!r}.")


def job_ended(job: Job) -> ApiError:
    """Too late to cancel."""
    detail = f"The {_NOUNS[job.kind]} has ended already: {job.status}. Nothing was cancelled."
    return ApiError(409, "ALREADY_ENDED", detail)


def too_many_jobs(kind: JobKind, limit: int) -> ApiError:
    """The owner has to wait for earlier ones."""
    detail = f"{limit} of your {_NOUNS[kind]}s wait or run; wait for some to end, or cancel some."
    return ApiError(429, "TOO_MANY_JOBS", detail)


def key_reused(key: str) -> ApiError:
    """An idempotency key is for one request alone."""
    detail = (
        f"The Idempotency-Key {shortened(key)!r} was sent before with another request; "
        "send each new request with a new key."
    )
    return ApiError(422, "IDEMPOTENCY_KEY_REUSED", detail)
