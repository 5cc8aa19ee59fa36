"""What Schemathesis is told about the app, and what it checks beyond its own checks."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import httpx
import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response
from schemathesis.generation.meta import TestPhase

_FOLLOWERS = {
    "start_ingestion": ("runId", "tool_or_run", ("get_ingestion", "get_log", "cancel_ingestion")),
}
"""By what starts a job: where its id stands, which parameter takes it, and in which operations."""
_started: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
"""By operation, jobs to which it has not been led yet."""


@schemathesis.check
def what_the_description_allows_is_well_formed(ctx: CheckContext, response: Response, case: Case) -> None:
    """It may be refused for what it means, with a code that says so, but never for its form."""
    if _is_positive(case) and response.status_code == 422:
        assert response.json()["code"] != "INVALID_REQUEST", response.text


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    """Lead calls that the description allows to what is there, or they would all end at what is not."""
    operation = _operation(case)
    if not _is_positive(case):
        return
    if operation in _PREPARED:
        _PREPARED[operation](case)
    elif _started[operation] and case.meta.phase.name is not TestPhase.STATEFUL:
        case.path_parameters = _started[operation].pop()


@schemathesis.hook
def after_call(context: HookContext, case: Case, response: Response) -> None:
    """Remember what was started, for the operations that need something like it."""
    place, parameter, followers = _FOLLOWERS.get(_operation(case), ("", "", ()))
    if response.status_code == 202:
        for each in followers:
            _started[each].append({parameter: response.json()[place]})


def _operation(case: Case) -> str:
    return str(case.operation.definition.raw["operationId"])


def _is_positive(case: Case) -> bool:
    return case.meta is not None and case.meta.generation.mode.is_positive


def _in_a_chat_that_waits(case: Case) -> None:
    case.body["chatId"] = _new_chat(case)


def _of_a_chat(case: Case) -> None:
    if case.meta.phase.name is not TestPhase.STATEFUL:
        case.path_parameters = {"chat_id": _new_chat(case)}


def _new_chat(case: Case) -> str:
    asked = {"message": "?", "domain": "hospital", "toolName": "asking"}
    answer = _post(case, "/api/chatbot/chat", asked)
    return answer.text.partition('"chatId":"')[2].partition('"')[0]


def _post(case: Case, path: str, body: dict[str, Any]) -> httpx.Response:
    """Sent by the user of the case."""
    headers = {name: value for name, value in (case.headers or {}).items() if name == "Authorization"}
    return httpx.post(f"{case.operation.base_url.rstrip('/')}{path}", json=body, headers=headers)


def _of_an_allowed_folder(case: Case) -> None:
    case.body["sources"] = [{"root": os.environ["DOCUMENTS"]} for _ in case.body["sources"]]


def _of_a_task(case: Case) -> None:
    if case.meta.phase.name is not TestPhase.STATEFUL:
        task = _post(case, "/api/tasks/counting", {"steps": 2, "seconds": 0.05})
        case.path_parameters = {"type_or_id": task.json()["taskId"]}


def _of_a_short_task(case: Case) -> None:
    case.body = {"steps": 2, "seconds": 0.05}


_PREPARED: dict[str, Callable[[Case], None]] = {
    "clarify": _in_a_chat_that_waits,
    "get_chat": _of_a_chat,
    "rename_chat": _of_a_chat,
    "delete_chat": _of_a_chat,
    "get_task": _of_a_task,
    "cancel_task": _of_a_task,
    "start_ingestion": _of_an_allowed_folder,
    "start_task": _of_a_short_task,
}
