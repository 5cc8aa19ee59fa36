"""Task tools that tests start over REST, also in servers of their own."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from toolkit.kinds import AsyncTaskTool, TaskProgress


class Steps(BaseModel):
    """How long a task is."""

    steps: int = Field(default=3, ge=0, le=10_000)
    seconds: float = 0.0
    """Of each step."""
    day: date | None = None


class CountingTask(AsyncTaskTool[Steps]):
    """Counts in a thread."""

    name = "counting"
    task_type = "counting"
    request_class = Steps

    def run(self, request: Steps, progress: TaskProgress) -> dict[str, Any]:
        for step in range(request.steps):
            progress.report(step, request.steps, f"step {step}")
            time.sleep(request.seconds)
        return {"counted": request.steps, "day": request.day and request.day.isoformat()}


class RepeatableTask(CountingTask):
    """The same, safe to repeat."""

    name = "repeatable"
    task_type = "repeatable"
    safe_to_repeat = True


class AsyncCountingTask(AsyncTaskTool[Steps]):
    """Counts in the event loop."""

    name = "async_counting"
    task_type = "async-counting"
    request_class = Steps

    async def run(self, request: Steps, progress: TaskProgress) -> int:
        for step in range(request.steps):
            progress.report(step)
            await asyncio.sleep(request.seconds)
        return request.steps


class DeafTask(AsyncTaskTool[Steps]):
    """Works on, whatever it is told."""

    name = "deaf"
    task_type = "deaf"
    request_class = Steps
    go_on = threading.Event()

    def run(self, request: Steps, progress: TaskProgress) -> str:
        self.go_on.wait(30)
        return "done"


class Failure(BaseModel):
    """How a task fails."""

    model_config = ConfigDict(extra="forbid")

    how: str


class FailingTask(AsyncTaskTool[Failure]):
    """Fails, or returns what cannot be kept."""

    name = "failing"
    task_type = "failing"
    request_class = Failure

    def run(self, request: Failure, progress: TaskProgress) -> Any:
        if request.how == "raise":
            raise ValueError("the printer is on fire")
        if request.how == "exit":
            raise SystemExit(3)
        cyclic: list[Any] = []
        cyclic.append(cyclic)
        return {
            "object": object(),
            "nan": float("nan"),
            "cycle": cyclic,
            "long": "x" * 5_000_000,
            "text": "a\x00b\ud800c",
        }[request.how]


class NotingTask(AsyncTaskTool[Steps]):
    """Notes in the file of its settings that it ran."""

    name = "noting"
    task_type = "noting"
    request_class = Steps
    file: Path

    def init(self, services: Any) -> None:
        self.file = Path(services.settings("noting").get("file", "/dev/null"))

    def run(self, request: Steps, progress: TaskProgress) -> None:
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(f"{request.steps}\n")
        time.sleep(request.seconds)
