"""Starting, following and cancelling ingestion runs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.responses import PlainTextResponse

from serving.identity import user_of
from serving.paging import CursorQuery, LimitQuery, cursor_of, place_of
from serving.platform import platform_of
from serving.routes.declared import BODY_PROBLEMS, LOCATION, followed, problems
from serving.wire import Name
from serving.work.idempotency import IdempotencyKey
from serving.work.ingestion_wire import IngestionBody, IngestionInfo, IngestionPage
from serving.work.records import JobStatus, json_value
from serving.work.wire import KeyHeader
from toolkit.execution import run_tool_method

router = APIRouter(prefix="/api/ingestion", tags=["ingestion"])

MOST_LINES = 1000
"""Of a log that are given at once."""

RunId = Annotated[
    str, Path(alias="tool_or_run", max_length=64, description="The run, as the starting call named it.")
]
ToolName = Annotated[
    Name,
    Path(
        alias="tool_or_run", description="`domain_ingestion` for any domain, or an installed ingestion tool."
    ),
]

_THEN = followed(("get_ingestion", "get_log", "cancel_ingestion"), "tool_or_run", "/runId")
_STARTED = problems(
    {
        **BODY_PROBLEMS,
        403: "INGESTION_SWITCHED_OFF: the operator has named no folders in TUDASTAR_INGESTION_ROOTS. "
        "ROOT_NOT_ALLOWED: a source lies outside of them. ORIGIN_NOT_ALLOWED: a web page elsewhere may not call.",
        404: "UNKNOWN_INGESTION_TOOL: there is no such tool; the detail names the valid ones.",
        422: "DOMAIN_MISSING, OTHER_DOMAIN, INVALID_NAME, SOURCE_NOT_FOUND, TOOL_NOT_STARTABLE; "
        "IDEMPOTENCY_KEY_REUSED: the key was sent with another request. INVALID_REQUEST: a field is wrong.",
        429: "TOO_MANY_JOBS: too many of the user's runs wait or run.",
    }
) | {
    200: {
        "model": IngestionInfo,
        "description": "The run that the same request with the same key started before.",
        "headers": LOCATION,
    },
    202: {"description": "The run, accepted.", "headers": LOCATION, **_THEN},
}
_UNKNOWN = {404: "UNKNOWN_INGESTION: the user has no such run."}
_CANCELLED = problems(
    {**_UNKNOWN, 409: "ALREADY_ENDED: the run has ended otherwise, so nothing was cancelled."}
) | {202: {"model": IngestionInfo, "description": "It is being cancelled."}}
_LOG = problems(_UNKNOWN) | {
    200: {"description": "Lines of text.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.post("/{tool_or_run}", status_code=202, responses=_STARTED)
async def start_ingestion(
    request: Request,
    response: Response,
    tool: ToolName,
    body: IngestionBody,
    idempotency_key: KeyHeader = None,
) -> IngestionInfo:
    """Start a run in a process of its own. It is answered at once with the run's id, `Location` has its address.

    The run goes on when this server stops or dies, and is followed again by the next one. It is QUEUED, RUNNING, and
    ends as SUCCEEDED, FAILED, CANCELLED, or INTERRUPTED when its process died. Unless it SUCCEEDED, the domain is as
    before. Two runs on one domain at once: the later one ends FAILED with the code STORE_BUSY.
    """
    platform = platform_of(request)
    owner = user_of(request).name
    setup = platform.work.ingestions.setup
    parameters = json_value(await run_tool_method(setup.checked, tool, body, executor=platform.chat.executor))
    work = await platform.work.opened()
    key = IdempotencyKey.of(owner, "ingestion", idempotency_key, [tool, parameters])
    job, is_new = await work.ingestions.jobs.submit(
        owner, tool, parameters, key=key, most_open=setup.limits.open_jobs
    )
    work.ingestions.wake()
    response.status_code = 202 if is_new else 200
    response.headers["Location"] = f"{router.prefix}/{job.job_id}"
    return IngestionInfo.of(job)


@router.get("", responses=problems({}))
async def list_ingestions(
    request: Request, limit: LimitQuery = 20, cursor: CursorQuery = None
) -> IngestionPage:
    """The user's runs, newest first. Of the ended ones a certain number is kept."""
    before = place_of(cursor)
    work = await platform_of(request).work.opened()
    jobs = await work.ingestions.jobs.page(user_of(request).name, limit + 1, before)
    last = jobs[limit - 1] if len(jobs) > limit else None
    return IngestionPage(
        runs=tuple(IngestionInfo.of(job) for job in jobs[:limit]),
        next=cursor_of(last.created_at, last.job_id) if last else None,
    )


@router.get("/{tool_or_run}", responses=problems(_UNKNOWN))
async def get_ingestion(request: Request, run_id: RunId) -> IngestionInfo:
    """A run as it stands: its stage, how many documents are read, what was found, which ones were rejected."""
    work = await platform_of(request).work.opened()
    return IngestionInfo.of(await work.ingestions.jobs.get(user_of(request).name, run_id))


@router.get("/{tool_or_run}/log", response_class=PlainTextResponse, responses=_LOG)
async def get_log(
    request: Request,
    run_id: RunId,
    tail: Annotated[int, Query(ge=1, le=MOST_LINES, description="How many lines at most.")] = 100,
) -> PlainTextResponse:
    """The last lines that the run's process said, also while it runs."""
    platform = platform_of(request)
    work = await platform.work.opened()
    job = await work.ingestions.jobs.get(user_of(request).name, run_id)
    folder = work.ingestions.folder(job.job_id)
    lines = await run_tool_method(folder.log_tail, tail, executor=platform.chat.executor)
    return PlainTextResponse("".join(f"{line}\n" for line in lines))


@router.delete("/{tool_or_run}", responses=_CANCELLED)
async def cancel_ingestion(request: Request, response: Response, run_id: RunId) -> IngestionInfo:
    """Cancel a run: at once (200) while it waits, or when it has been cancelled before; else soon (202).

    Its processes are told to end, and are killed when they do not. A run that published its generation before it
    took notice ends as SUCCEEDED.
    """
    work = await platform_of(request).work.opened()
    job = await work.ingestions.jobs.request_cancel(user_of(request).name, run_id)
    work.ingestions.wake()
    response.status_code = 200 if job.status is JobStatus.CANCELLED else 202
    return IngestionInfo.of(job)
