"""What ingestion runs look like as JSON."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from serving.wire import Name, Wire
from serving.work.records import Job, JobStatus
from serving.work.wire import JobProblem, problem_of, utc, utc_or_none


class SourceBody(Wire):
    """A file, or a folder with all below it."""

    root: Annotated[str, StringConstraints(min_length=1, max_length=4096)]
    """Its full path on the server, below one of the folders that the operator allows."""
    name: Name | None = None
    """Of the source; by default the last part of the path."""
    system: Annotated[str, StringConstraints(max_length=200)] = ""
    """Sub-source of the domain; empty for none."""
    language: Literal["auto", "hu", "en"] = "auto"
    """Of all its documents, or `auto` to tell each one's."""


class IngestionBody(Wire):
    """What to ingest. Documents gone from a named source are deleted; other sources stay."""

    domain: Name | None = None
    """For the tool `domain_ingestion`; another tool says its domain itself."""
    sources: Annotated[tuple[SourceBody, ...], Field(min_length=1, max_length=100)]


class Amount(Wire):
    """So many of so many."""

    done: int
    total: int


class Reject(Wire):
    """A document that could not be read, and why."""

    model_config = ConfigDict(extra="ignore")

    source: str
    source_id: str
    stage: str
    code: str
    message: str


class IngestionReportInfo(Wire):
    """What a run that ended well did."""

    model_config = ConfigDict(extra="ignore")

    status: str
    """`published`, or `unchanged` when there was nothing new."""
    engine: str
    """`spark`, `local`, or empty when none was needed."""
    generation: int | None
    """The generation that serves now."""
    seconds: dict[str, float]
    """Duration by stage."""


class IngestionInfo(Wire):
    """A run as it stands."""

    run_id: str
    tool: str
    domain: str
    status: JobStatus
    sources: tuple[SourceBody, ...]
    """With their real paths."""
    stage: str | None
    """At work now: load, sentences, mentions, entities, graph, index."""
    done: int
    """Pieces of the stage's work."""
    total: int | None
    documents: Amount | None
    """Files that are read; null until they have been counted, and when there was nothing new."""
    counts: dict[str, int]
    """Rows by table so far."""
    rejects: tuple[Reject, ...]
    """The first ones; their number stands in `counts`."""
    report: IngestionReportInfo | None
    """Of a run that SUCCEEDED."""
    error: JobProblem | None
    """Of FAILED and INTERRUPTED runs; the last generation then serves on."""
    cancel_requested: bool
    created_at: datetime.datetime
    started_at: datetime.datetime | None
    finished_at: datetime.datetime | None

    @classmethod
    def of(cls, job: Job) -> IngestionInfo:
        """The run of a job."""
        progress: dict[str, Any] = job.progress or {}
        return cls(
            run_id=job.job_id,
            tool=job.name,
            domain=job.parameters["domain"],
            status=job.status,
            sources=job.parameters["sources"],
            stage=progress.get("stage"),
            done=progress.get("done") or 0,
            total=progress.get("total"),
            documents=progress.get("documents"),
            counts=progress.get("counts") or {},
            rejects=tuple(Reject.model_validate(each) for each in progress.get("rejects") or ()),
            report=None if job.result is None else IngestionReportInfo.model_validate(job.result),
            error=problem_of(job),
            cancel_requested=bool(job.cancel_requested),
            created_at=utc(job.created_at),
            started_at=utc_or_none(job.started_at),
            finished_at=utc_or_none(job.finished_at),
        )


class IngestionPage(Wire):
    """Some of the user's runs, newest first."""

    runs: tuple[IngestionInfo, ...]
    next: str | None
    """Send it as `cursor` for the page behind; null on the last page."""
