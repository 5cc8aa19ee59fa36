"""Long work that a tool does in the background."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response

from serving.errors import ApiError
from serving.identity import user_of
from serving.paging import CursorQuery, LimitQuery, cursor_of, place_of
from serving.parameters import task_request
from serving.platform import platform_of
from serving.routes.declared import BODY_PROBLEMS, LOCATION, followed, problems
from serving.wire import Name
from serving.work.idempotency import IdempotencyKey
from serving.work.records import JobStatus, json_value
from serving.work.wire import KeyHeader, TaskInfo, TaskPage
from toolkit.errors import ToolParametersError, UnknownToolError
from toolkit.execution import run_tool_method

router = APIRouter(prefix="/api/tasks", tags=["tasks"])

TaskId = Annotated[
    str, Path(alias="type_or_id", max_length=64, description="The task, as the starting call named it.")
]
TaskType = Annotated[
    Name, Path(alias="type_or_id", description="Type of the task to start: that of an installed task tool.")
]
Parameters = Annotated[
    dict[str, Any],
    Body(description="The fields of the task's request class, by name."),
]

_THEN = followed(("get_task", "cancel_task"), "type_or_id", "/taskId")
_STARTED = problems(
    {
        **BODY_PROBLEMS,
        404: "UNKNOWN_TASK_TYPE: no tool runs such tasks; the detail names the valid types.",
        422: "INVALID_TASK_PARAMETERS: the parameters do not fit; the detail names what is wrong and the fields. "
        "IDEMPOTENCY_KEY_REUSED: the key was sent with another request. INVALID_REQUEST: a field is wrong.",
        429: "TOO_MANY_JOBS: too many of the user's tasks wait or run.",
    }
) | {
    200: {
        "model": TaskInfo,
        "description": "The task that the same request with the same key started before.",
        "headers": LOCATION,
    },
    202: {"description": "The task, accepted.", "headers": LOCATION, **_THEN},
}
_UNKNOWN = {404: "UNKNOWN_TASK: the user has no such task."}
_CANCELLED = problems(
    {**_UNKNOWN, 409: "ALREADY_ENDED: the task has ended otherwise, so nothing was cancelled."}
) | {202: {"model": TaskInfo, "description": "It is being cancelled, and will end as CANCELLED."}}


@router.post("/{type_or_id}", status_code=202, responses=_STARTED)
async def start_task(
    request: Request,
    response: Response,
    task_type: TaskType,
    parameters: Parameters,
    idempotency_key: KeyHeader = None,
) -> TaskInfo:
    """Start a task. It is answered at once with the task's id; `Location` is where the task is to be looked at.

    The task waits as QUEUED for those before it, is RUNNING, and ends as SUCCEEDED, FAILED, CANCELLED, or
    INTERRUPTED when the server stopped or died and the task is not safe to repeat.
    """
    platform = platform_of(request)
    owner = user_of(request).name
    try:
        tool = platform.chat.registry.task_tool(task_type)
        sent = json_value(parameters)
        await run_tool_method(lambda: task_request(tool, sent), executor=platform.chat.executor)
    except UnknownToolError as error:
        raise ApiError(404, "UNKNOWN_TASK_TYPE", str(error)) from error
    except (ToolParametersError, ValueError) as error:
        raise ApiError(422, "INVALID_TASK_PARAMETERS", str(error)) from error
    work = await platform.work.opened()
    key = IdempotencyKey.of(owner, "tasks", idempotency_key, [task_type, sent])
    most = platform.settings.jobs.open_jobs
    job, is_new = await work.tasks.jobs.submit(owner, task_type, sent, key=key, most_open=most)
    work.tasks.wake()
    response.status_code = 202 if is_new else 200
    response.headers["Location"] = f"{router.prefix}/{job.job_id}"
    return TaskInfo.of(job)


@router.get("", responses=problems({}))
async def list_tasks(request: Request, limit: LimitQuery = 20, cursor: CursorQuery = None) -> TaskPage:
    """The user's tasks, newest first. Of the ended ones a certain number is kept."""
    before = place_of(cursor)
    work = await platform_of(request).work.opened()
    jobs = await work.tasks.jobs.page(user_of(request).name, limit + 1, before)
    more = len(jobs) > limit
    last = jobs[limit - 1] if more else None
    return TaskPage(
        tasks=tuple(TaskInfo.of(job) for job in jobs[:limit]),
        next=cursor_of(last.created_at, last.job_id) if last else None,
    )


@router.get("/{type_or_id}", responses=problems(_UNKNOWN))
async def get_task(request: Request, task_id: TaskId) -> TaskInfo:
    """A task as it stands, with its progress, its result or its error."""
    work = await platform_of(request).work.opened()
    return TaskInfo.of(await work.tasks.jobs.get(user_of(request).name, task_id))


@router.delete("/{type_or_id}", responses=_CANCELLED)
async def cancel_task(request: Request, response: Response, task_id: TaskId) -> TaskInfo:
    """Cancel a task: at once (200) while it waits, or when it has been cancelled before; else soon (202).

    What was accepted here always ends as CANCELLED, also when the task came to its end in the meantime.
    """
    work = await platform_of(request).work.opened()
    job = await work.tasks.jobs.request_cancel(user_of(request).name, task_id)
    work.tasks.wake()
    response.status_code = 200 if job.status is JobStatus.CANCELLED else 202
    return TaskInfo.of(job)
