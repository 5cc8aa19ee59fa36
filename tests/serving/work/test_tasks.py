"""Tasks over REST within one server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from task_tools import AsyncCountingTask, CountingTask, DeafTask, FailingTask, NotingTask

from serving.work.limits import JobLimits

Fixture = Callable[..., Any]
USERS = {"anna": "token-of-anna-0123456789", "bela": "token-of-bela-0123456789"}


@pytest.fixture
def make_app(make_app: Fixture, state_url: str) -> Fixture:
    """Makes apps over each kind of database."""
    return partial(make_app, state=state_url)


async def test_r12_1_a_task_is_accepted_at_once_and_ends_with_its_result(
    make_app: Fixture, opened: Fixture, until: Fixture
) -> None:
    async with opened(make_app(CountingTask)) as client:
        response = await client.post("/api/tasks/counting", json={"steps": 4, "day": "2024-02-29"})
        assert response.status_code == 202
        task = response.json()
        assert response.headers["Location"] == f"/api/tasks/{task['taskId']}"
        assert (task["status"], task["taskType"], task["result"]) == ("QUEUED", "counting", None)
        assert task["startedAt"] is None
        ended = await until(client, response.headers["Location"])
    assert ended["status"] == "SUCCEEDED"
    assert ended["result"] == {"counted": 4, "day": "2024-02-29"}
    assert ended["progress"] == {"done": 3, "total": 4, "message": "step 3"}
    assert ended["parameters"] == {"steps": 4, "day": "2024-02-29"}
    assert ended["createdAt"] <= ended["startedAt"] <= ended["finishedAt"]
    assert ended["createdAt"].endswith("Z")


@pytest.mark.parametrize("tool", [CountingTask, AsyncCountingTask])
async def test_r12_2_progress_is_seen_while_it_runs_and_cancelling_ends_it(
    make_app: Fixture, opened: Fixture, until: Fixture, tool: Any
) -> None:
    async with opened(make_app(tool)) as client:
        started = await client.post(f"/api/tasks/{tool.task_type}", json={"steps": 9000, "seconds": 0.05})
        address = started.headers["Location"]
        running = await until(client, address, lambda job: job["progress"] is not None)
        assert running["status"] == "RUNNING"
        cancelled = await client.delete(address)
        assert cancelled.status_code == 202
        assert cancelled.json()["cancelRequested"]
        ended = await until(client, address)
        assert (ended["status"], ended["result"], ended["error"]) == ("CANCELLED", None, None)
        assert (await client.delete(address)).status_code == 200


async def test_r12_2_a_waiting_task_is_cancelled_at_once_and_never_runs(
    make_app: Fixture, opened: Fixture, until: Fixture, tmp_path: Path
) -> None:
    noted = tmp_path / "noted"
    app = make_app(NotingTask, jobs=JobLimits(concurrent_tasks=1), tools={"noting": {"file": str(noted)}})
    async with opened(app) as client:
        numbers = range(1, 6)
        started = [
            await client.post("/api/tasks/noting", json={"steps": number, "seconds": 0.3})
            for number in numbers
        ]
        waiting = await client.delete(started[2].headers["Location"])
        assert (waiting.status_code, waiting.json()["status"]) == (200, "CANCELLED")
        ended = [await until(client, response.headers["Location"]) for response in started]
    assert [task["status"] for task in ended] == [
        "SUCCEEDED", "SUCCEEDED", "CANCELLED", "SUCCEEDED", "SUCCEEDED",
    ]  # fmt: skip
    assert noted.read_text().split() == ["1", "2", "4", "5"]


async def test_r12_2_an_ended_task_cannot_be_cancelled(
    make_app: Fixture, opened: Fixture, until: Fixture
) -> None:
    async with opened(make_app(CountingTask)) as client:
        address = (await client.post("/api/tasks/counting", json={})).headers["Location"]
        await until(client, address)
        refused = await client.delete(address)
        assert (refused.status_code, refused.json()["code"]) == (409, "ALREADY_ENDED")


async def test_r12_2_a_deaf_task_is_given_up_and_keeps_its_place(
    make_app: Fixture, opened: Fixture, until: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DeafTask, "go_on", threading.Event())
    app = make_app(DeafTask, CountingTask, jobs=JobLimits(concurrent_tasks=1, cancel_seconds=0.2))
    async with opened(app) as client:
        deaf = (await client.post("/api/tasks/deaf", json={})).headers["Location"]
        await until(client, deaf, lambda job: job["status"] == "RUNNING")
        next_one = (await client.post("/api/tasks/counting", json={})).headers["Location"]
        await client.delete(deaf)
        assert (await until(client, deaf))["status"] == "CANCELLED"
        await asyncio.sleep(1.5)
        assert (await client.get(next_one)).json()["status"] == "QUEUED"
        DeafTask.go_on.set()
        assert (await until(client, next_one))["status"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("how", "code", "told"),
    [
        ("raise", "TASK_FAILED", "the printer is on fire"),
        ("exit", "TASK_FAILED", "SystemExit"),
        ("object", "RESULT_NOT_JSON", "object is not JSON serializable"),
        ("nan", "RESULT_NOT_JSON", "not JSON compliant"),
        ("cycle", "RESULT_NOT_JSON", "Circular"),
        ("long", "RESULT_NOT_JSON", "at most 4194304"),
    ],
)
async def test_r12_2_a_failure_says_what_went_wrong(
    make_app: Fixture, opened: Fixture, until: Fixture, how: str, code: str, told: str
) -> None:
    async with opened(make_app(FailingTask)) as client:
        address = (await client.post("/api/tasks/failing", json={"how": how})).headers["Location"]
        ended = await until(client, address)
    assert (ended["status"], ended["error"]["code"]) == ("FAILED", code)
    assert told in ended["error"]["message"]
    assert ended["error"]["type"]


async def test_r12_2_what_no_database_takes_is_left_out_of_a_result(
    make_app: Fixture, opened: Fixture, until: Fixture
) -> None:
    async with opened(make_app(FailingTask)) as client:
        address = (await client.post("/api/tasks/failing", json={"how": "text"})).headers["Location"]
        ended = await until(client, address)
    assert ended["status"] == "SUCCEEDED"
    assert ended["result"].endswith("b?c")


@pytest.mark.parametrize(
    ("path", "body", "status", "code", "told"),
    [
        ("sorting", {}, 404, "UNKNOWN_TASK_TYPE", "valid are: counting, failing"),
        ("counting", {"steps": "many"}, 422, "INVALID_TASK_PARAMETERS", "steps: "),
        ("counting", {"steps": -1}, 422, "INVALID_TASK_PARAMETERS", "greater than or equal to 0"),
        ("counting", {"stepz": 1}, 422, "INVALID_TASK_PARAMETERS", "its fields are: steps, seconds, day"),
        ("counting", {"steps": None}, 422, "INVALID_TASK_PARAMETERS", "steps: "),
        ("failing", {}, 422, "INVALID_TASK_PARAMETERS", "how: Field required"),
        ("counting", [], 422, "INVALID_REQUEST", "JSON object"),
    ],
)
async def test_r12_1_parameters_are_checked_before_anything_starts(
    make_app: Fixture, opened: Fixture, path: str, body: Any, status: int, code: str, told: str
) -> None:
    async with opened(make_app(CountingTask, FailingTask)) as client:
        response = await client.post(f"/api/tasks/{path}", json=body)
        assert (response.status_code, response.json()["code"]) == (status, code)
        assert told in response.json()["detail"]
        assert response.headers["Content-Type"] == "application/problem+json"
        assert (await client.get("/api/tasks")).json() == {"tasks": [], "next": None}


async def test_r12_1_a_request_sent_again_with_its_key_starts_nothing(
    make_app: Fixture, opened: Fixture, as_user: Fixture
) -> None:
    async with opened(make_app(CountingTask, users=USERS)) as client:

        async def start(body: dict[str, Any], user: str = "anna") -> Any:
            headers = {**as_user(user), "Idempotency-Key": "order-1"}
            return await client.post("/api/tasks/counting", json=body, headers=headers)

        first, *others = await asyncio.gather(*(start({"steps": 2}) for _ in range(4)))
        everyone = [first, *others]
        assert sorted(response.status_code for response in everyone) == [200, 200, 200, 202]
        assert len({response.json()["taskId"] for response in everyone}) == 1
        other_body = await start({"steps": 3})
        assert (other_body.status_code, other_body.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
        other_owner = await start({"steps": 3}, "bela")
        assert other_owner.status_code == 202
        listed = (await client.get("/api/tasks", headers=as_user("anna"))).json()["tasks"]
        assert [task["taskId"] for task in listed] == [first.json()["taskId"]]


async def test_r13_0_tasks_of_others_are_not_there(
    make_app: Fixture, opened: Fixture, as_user: Fixture, until: Fixture
) -> None:
    async with opened(make_app(CountingTask, users=USERS)) as client:
        anna, bela = as_user("anna"), as_user("bela")
        address = (await client.post("/api/tasks/counting", json={}, headers=anna)).headers["Location"]
        for call in (client.get, client.delete):
            refused = await call(address, headers=bela)
            assert (refused.status_code, refused.json()["code"]) == (404, "UNKNOWN_TASK")
        assert (await client.get("/api/tasks", headers=bela)).json()["tasks"] == []
        assert (await until(client, address, headers=anna))["status"] == "SUCCEEDED"


async def test_r13_3_tasks_are_listed_newest_first_by_pages(make_app: Fixture, opened: Fixture) -> None:
    async with opened(make_app(CountingTask)) as client:
        started = [
            (await client.post("/api/tasks/counting", json={"steps": number})).json()["taskId"]
            for number in range(5)
        ]
        seen: list[str] = []
        cursor = None
        while True:
            query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
            page = (await client.get("/api/tasks", params=query)).json()
            seen += [task["taskId"] for task in page["tasks"]]
            cursor = page["next"]
            if cursor is None:
                break
        assert seen == started[::-1]
        for wrong in ("x", "1.0_", "1e9_a", "\x00", "1.0_a b", "999999999999.0_" + "a" * 65):
            refused = await client.get("/api/tasks", params={"cursor": wrong})
            assert (refused.status_code, refused.json()["code"]) == (422, "INVALID_REQUEST")
        other = await client.put(f"/api/tasks/{started[0]}")
        assert (other.status_code, other.headers["Allow"]) == (405, "DELETE, GET, POST")


async def test_r13_3_a_user_may_have_so_many_open_tasks_and_so_many_ended_ones_are_kept(
    make_app: Fixture, opened: Fixture, until: Fixture
) -> None:
    limits = JobLimits(open_jobs=2, kept_jobs=1, concurrent_tasks=1)
    async with opened(make_app(CountingTask, jobs=limits)) as client:
        body = {"steps": 3, "seconds": 0.2}
        started = [await client.post("/api/tasks/counting", json=body) for _ in range(3)]
        assert [response.status_code for response in started] == [202, 202, 429]
        assert started[2].json()["code"] == "TOO_MANY_JOBS"
        await until(client, started[1].headers["Location"])

        async def kept() -> int:
            return len((await client.get("/api/tasks")).json()["tasks"])

        for _ in range(50):
            if await kept() == 1:
                break
            await asyncio.sleep(0.05)
        assert (await client.get(started[0].headers["Location"])).status_code == 404


@pytest.mark.parametrize("task_id", ["x", "0" * 32, "%00", "A" * 64, "é"])
async def test_r13_3_an_unknown_task_is_404(make_app: Fixture, opened: Fixture, task_id: str) -> None:
    async with opened(make_app(CountingTask)) as client:
        assert (await client.get(f"/api/tasks/{task_id}")).status_code == 404
        assert (await client.delete(f"/api/tasks/{task_id}")).status_code == 404
