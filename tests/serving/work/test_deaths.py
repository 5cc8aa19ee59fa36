"""Servers in processes of their own that are stopped and killed: every job they accepted reaches a stated end."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from ingestion_tools import GATE

SUPPORT = Path(__file__).resolve().parents[2] / "support"
PATIENCE = 90.0
OPEN = ("QUEUED", "RUNNING")

pytestmark = pytest.mark.slow


class Server:
    """`tudastar serve` over a test's folder."""

    def __init__(self, folder: Path, number: int, environment: dict[str, str]) -> None:
        self._log = folder / f"server-{number}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jobs", "serve", "--port", "0", "--store", str(folder / "store")],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
            )
        self.client = httpx.Client(base_url=self._address(), timeout=60)

    def _address(self) -> str:
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(r"open (http://\S+)", self._log.read_text())):
            assert self.process.poll() is None, self._log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return found.group(1)

    def start(self, path: str, body: dict[str, Any], **headers: str) -> str:
        response = self.client.post(f"/api/{path}", json=body, headers=headers)
        assert response.status_code in (200, 202), response.text
        return response.headers["Location"]

    def get(self, address: str) -> dict[str, Any]:
        response = self.client.get(address)
        assert response.status_code == 200, response.text
        job: dict[str, Any] = response.json()
        return job

    def until(
        self, address: str, expected: Callable[[dict[str, Any]], bool] = lambda job: job["status"] not in OPEN
    ) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while not expected(job := self.get(address)):
            assert time.monotonic() < deadline, f"still {job}; {self._log.read_text()}"
            time.sleep(0.1)
        return job

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        self.client.close()
        self.process.send_signal(number)
        self.process.wait(PATIENCE)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.txt").write_text("Kelemen Anna hétfőn rendel.")
    return folder


@pytest.fixture
def serve(tmp_path: Path, documents: Path, state_url: str) -> Iterator[Callable[..., Server]]:
    """Starts servers over one store and state; nothing of them outlives the test."""
    servers: list[Server] = []

    def start(**settings: str) -> Server:
        environment = {
            **os.environ,
            "PYTHONPATH": str(SUPPORT),
            "TUDASTAR_STATE": state_url,
            "TUDASTAR_PLUGINS": "task_tools,ingestion_tools",
            "TUDASTAR_INGESTION_ROOTS": str(documents),
            "TUDASTAR_INGESTION_ENGINE": "local",
            GATE: str(tmp_path / "gate"),
            **settings,
        }
        servers.append(Server(tmp_path, len(servers), environment))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.end()
    for process in psutil.process_iter(["cmdline"]):
        if any(str(tmp_path / "runs") in part for part in process.info["cmdline"] or ()):
            process.kill()


def is_running(job: dict[str, Any]) -> bool:
    return bool(job["status"] == "RUNNING" and job["progress"])


def test_r12_2_after_a_kill_every_task_and_run_has_a_stated_end(
    serve: Callable[..., Server], documents: Path, tmp_path: Path
) -> None:
    server = serve(TUDASTAR_JOBS__CONCURRENT_TASKS="2")
    run = server.start("ingestion/ward_ingestion", {"sources": [{"root": str(documents)}]})
    server.until(run, lambda job: job["stage"] == "mentions")
    lost = server.start("tasks/counting", {"steps": 9000, "seconds": 0.1})
    repeated = server.start("tasks/repeatable", {"steps": 60, "seconds": 0.1})
    waiting = server.start("tasks/counting", {"steps": 2})
    server.until(lost, is_running)
    server.until(repeated, is_running)
    assert server.get(waiting)["status"] == "QUEUED"
    server.end()

    again = serve()
    ended = again.until(lost)
    assert (ended["status"], ended["error"]["code"]) == ("INTERRUPTED", "SERVER_DIED")
    assert again.until(repeated)["result"] == {"counted": 60, "day": None}
    assert again.until(waiting)["status"] == "SUCCEEDED"
    assert again.get(run)["status"] == "RUNNING"
    (tmp_path / "gate").touch()
    ended = again.until(run)
    assert (ended["status"], ended["report"]["generation"]) == ("SUCCEEDED", 1)


def test_r12_2_a_run_that_dies_with_the_server_is_interrupted(
    serve: Callable[..., Server], documents: Path, tmp_path: Path
) -> None:
    server = serve()
    run = server.start("ingestion/ward_ingestion", {"sources": [{"root": str(documents)}]})
    server.until(run, lambda job: job["stage"] == "mentions")
    server.end()
    for process in psutil.process_iter(["cmdline"]):
        if any(str(tmp_path / "runs") in part for part in process.info["cmdline"] or ()):
            process.kill()
    again = serve()
    ended = again.until(run)
    assert (ended["status"], ended["error"]["code"]) == ("INTERRUPTED", "RUN_DIED")
    assert "load: 1" in ended["error"]["message"]


def test_r12_2_a_stopped_server_ends_its_tasks_and_leaves_its_runs(
    serve: Callable[..., Server], documents: Path, tmp_path: Path
) -> None:
    server = serve(TUDASTAR_JOBS__CONCURRENT_TASKS="3")
    run = server.start("ingestion/ward_ingestion", {"sources": [{"root": str(documents)}]})
    server.until(run, lambda job: job["stage"] == "mentions")
    lost = server.start("tasks/async-counting", {"steps": 9000, "seconds": 0.1})
    also_lost = server.start("tasks/counting", {"steps": 9000, "seconds": 0.1})
    repeated = server.start("tasks/repeatable", {"steps": 60, "seconds": 0.1})
    for task in (lost, also_lost, repeated):
        server.until(task, is_running)
    server.end(signal.SIGTERM)
    assert server.process.returncode in (0, -signal.SIGTERM)

    again = serve()
    for task in (lost, also_lost):
        ended = again.get(task)
        assert (ended["status"], ended["error"]["code"]) == ("INTERRUPTED", "SERVER_STOPPED")
    assert again.until(repeated)["status"] == "SUCCEEDED"
    (tmp_path / "gate").touch()
    assert again.until(run)["status"] == "SUCCEEDED"


def test_r12_2_another_server_cancels_and_takes_over(serve: Callable[..., Server]) -> None:
    one = serve(TUDASTAR_JOBS__CONCURRENT_TASKS="2")
    body = {"steps": 9000, "seconds": 0.1}
    cancelled, lost = one.start("tasks/counting", body), one.start("tasks/counting", body)
    one.until(cancelled, is_running)
    one.until(lost, is_running)
    waiting = one.start("tasks/deaf", {})
    other = serve()
    other.until(waiting, lambda job: job["status"] == "RUNNING")
    assert other.client.delete(cancelled).status_code == 202
    assert other.until(cancelled)["status"] == "CANCELLED"
    one.end()
    assert other.until(lost)["status"] == "INTERRUPTED"


def test_r12_2_kills_at_random_moments_leave_no_job_without_an_end(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    chance = random.Random(12)
    accepted: list[str] = []
    for number in range(4):
        server = serve()
        until = time.monotonic() + chance.uniform(0.0, 3.0)
        while time.monotonic() < until and len(accepted) < 20 * (number + 1):
            kind = chance.choice(("counting", "repeatable", "async-counting", "failing"))
            body: dict[str, Any] = {"how": "raise"} if kind == "failing" else {"steps": 5, "seconds": 0.1}
            key = f"{number}-{len(accepted)}"
            address = server.start(f"tasks/{kind}", body, **{"Idempotency-Key": key})
            assert server.start(f"tasks/{kind}", body, **{"Idempotency-Key": key}) == address
            accepted.append(address)
            if chance.random() < 0.2:
                server.client.delete(chance.choice(accepted))
        time.sleep(max(until - time.monotonic(), 0))
        server.end()
    server = serve()
    ends = [server.until(address)["status"] for address in accepted]
    assert set(ends) <= {"SUCCEEDED", "FAILED", "CANCELLED", "INTERRUPTED"}
    assert len(set(accepted)) == len(accepted)
