"""An emitter and a callback that keep what a tool sends."""

from __future__ import annotations

from toolkit.emitter import LLM_GENERATION, SEGMENT_BREAK, ProgressEvent
from toolkit.errors import TaskCancelledError


class RecordingEmitter:
    """A `ProgressEmitter` that keeps all events in their order; safe from any thread."""

    def __init__(self) -> None:
        self.events: list[ProgressEvent] = []

    def next(self, event: ProgressEvent) -> None:
        """Keep one event."""
        self.events.append(event)

    @property
    def statuses(self) -> list[str]:
        """The statuses of all events."""
        return [event.progress_status for event in self.events]

    @property
    def segments(self) -> list[str]:
        """The texts that were streamed, by segment; none when nothing was streamed."""
        segments: list[str] = []
        begun = False
        for event in self.events:
            if event.progress_status == LLM_GENERATION:
                segments = segments if begun else [*segments, ""]
                segments[-1] += event.content or ""
                begun = True
            elif event.progress_status == SEGMENT_BREAK:
                begun = False
        return segments


class RecordingCallback:
    """A `FinalCallback` that keeps what it is told."""

    def __init__(self) -> None:
        self.responses: list[tuple[str, str]] = []
        """Tool name and whole text of each success."""
        self.errors: list[BaseException] = []

    def on_success(self, tool_name: str, response: str) -> None:
        """Keep a success."""
        self.responses.append((tool_name, response))

    def on_error(self, error: BaseException) -> None:
        """Keep an error."""
        self.errors.append(error)


class RecordingProgress:
    """A `TaskProgress` that keeps the reports, and can cancel the task at one of them."""

    def __init__(self, cancel_after: int | None = None) -> None:
        self.reports: list[tuple[int, int | None, str]] = []
        self._cancel_after = cancel_after

    def report(self, done: int, total: int | None = None, message: str = "") -> None:
        """Keep a report. Raises TaskCancelledError once there were `cancel_after` of them."""
        if self._cancel_after is not None and len(self.reports) >= self._cancel_after:
            raise TaskCancelledError("the task was cancelled")
        self.reports.append((done, total, message))
