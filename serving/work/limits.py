"""Bounds of the work that outlasts a request."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class JobLimits(BaseModel):
    """`TUDASTAR_JOBS__CONCURRENT_TASKS=4` and so on."""

    model_config = ConfigDict(frozen=True)

    concurrent_tasks: int = Field(default=2, gt=0)
    """Tasks that one API process runs at once; the others wait."""
    concurrent_ingestions: int = Field(default=2, gt=0)
    """Ingestion runs that one API process has at once; the others wait."""
    open_jobs: int = Field(default=100, gt=0)
    """Tasks, and likewise ingestion runs, that one user may have waiting or running."""
    kept_jobs: int = Field(default=100, gt=0)
    """Ended tasks, and likewise ingestion runs, that are kept for each user; older ones are forgotten."""
    result_bytes: int = Field(default=4 * 1024 * 1024, gt=0)
    """Of a task's result as JSON."""
    cancel_seconds: float = Field(default=10.0, ge=0)
    """Time that cancelled work is given to end by itself."""
