"""What happened while a question was answered, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from toolkit.documents import UniqueTextDocument


@dataclass(slots=True)
class Trace:
    """The record of one question; filled in the event loop alone."""

    question: str = ""
    """The user's, as it is understood within the conversation."""
    language: str = ""
    important_words: tuple[str, ...] = ()
    generation: int | None = None
    """Of the knowledge store."""
    orchestrator: str | None = None
    answered_by: str | None = None
    """`model`, `quotes`, or the tool that answered."""
    sub_queries: list[str] = field(default_factory=list)
    """Task 1 is the first."""
    _tools: list[dict[str, Any]] = field(default_factory=list)
    _gates: list[dict[str, Any]] = field(default_factory=list)
    _dropped: list[dict[str, Any]] = field(default_factory=list)
    _kept: int = 0
    _notes: list[str] = field(default_factory=list)

    @property
    def has_failures(self) -> bool:
        """Whether a tool failed or took too long."""
        return any(entry["outcome"] in ("FAILED", "TIMED_OUT") for entry in self._tools)

    def started(self, tool: str, *, task: int | None, started_by: str | None = None) -> dict[str, Any]:
        """A tool was started: its entry, to be given to `ended`. The order of starting is the trace's order.

        `started_by` names the coordinator of which it is a step.
        """
        entry = {
            "tool": tool,
            "task": task,
            "startedBy": started_by,
            "outcome": "RUNNING",
            "seconds": 0.0,
            "documents": 0,
            "reason": None,
        }
        self._tools.append(entry)
        return entry

    def ended(
        self, entry: dict[str, Any], outcome: str, *, seconds: float, documents: int, reason: str | None
    ) -> None:
        """It ended: CONTEXT, ANSWER, ANSWERED, NEEDS_CLARIFICATION, NONE, FAILED or TIMED_OUT."""
        entry.update(outcome=outcome, seconds=round(seconds, 4), documents=documents, reason=reason)

    def skipped(self, tool: str, reason: str, *, task: int | None) -> None:
        """A tool was not run."""
        entry = self.started(tool, task=task)
        self.ended(entry, "SKIPPED", seconds=0.0, documents=0, reason=reason)

    def judged(self, task: int, priority: int, suffices: bool, reason: str) -> None:
        """The quality gate after a group."""
        self._gates.append({"task": task, "priority": priority, "suffices": suffices, "reason": reason})

    def dropped(self, documents: Sequence[UniqueTextDocument], reason: str) -> None:
        """Documents left out of the final context."""
        for document in documents:
            key = {"documentId": str(document.document_id), "page": document.page}
            self._dropped.append({**key, "sentenceNumber": document.sentence_number, "reason": reason})

    def kept(self, count: int) -> None:
        """How many documents the final context has."""
        self._kept = count

    def note(self, text: str) -> None:
        """Anything else that explains the answer; what is said twice stands once."""
        if text not in self._notes:
            self._notes.append(text)

    def to_wire(self) -> dict[str, Any]:
        """The JSON object of the TRACE event."""
        return {
            "question": self.question,
            "language": self.language,
            "importantWords": list(self.important_words),
            "generation": self.generation,
            "orchestrator": self.orchestrator,
            "answeredBy": self.answered_by,
            "subQueries": list(self.sub_queries),
            "tools": list(self._tools),
            "gates": list(self._gates),
            "documents": {"kept": self._kept, "dropped": list(self._dropped)},
            "notes": list(self._notes),
        }

    @classmethod
    def of_wire(cls, data: Mapping[str, Any]) -> Trace:
        """A trace that goes on from what `to_wire` gave."""
        return cls(
            question=data["question"],
            language=data["language"],
            important_words=tuple(data["importantWords"]),
            generation=data["generation"],
            orchestrator=data["orchestrator"],
            answered_by=data["answeredBy"],
            sub_queries=list(data["subQueries"]),
            _tools=[dict(each) for each in data["tools"]],
            _gates=[dict(each) for each in data["gates"]],
            _dropped=[dict(each) for each in data["documents"]["dropped"]],
            _kept=data["documents"]["kept"],
            _notes=list(data["notes"]),
        )


_current: ContextVar[Trace] = ContextVar("tudastar_trace")


@contextmanager
def tracing(trace: Trace) -> Iterator[None]:
    """Within it, and in what is started there, `note` writes into this trace."""
    token = _current.set(trace)
    try:
        yield
    finally:
        _current.reset(token)


def note(text: str) -> None:
    """Write a note into the trace of the request that is being served, if there is one."""
    trace = _current.get(None)
    if trace is not None:
        trace.note(text)
