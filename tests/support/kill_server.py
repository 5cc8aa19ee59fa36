"""API processes that are made to be killed: forked from one that has loaded everything, so that each starts at once.

`kill_server.py STATE LOG`: for each line on the standard input a server is begun on a free port; its process id
and address are printed as JSON. The tools append what they began and finished to LOG, a JSON list a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from task_tools import CountingTask, RepeatableTask

from serving.app import create_app
from serving.orchestrator import AbstractOrchestratorTool
from serving.scope import AnyTool, Task
from serving.server import make_server, open_listener
from serving.settings import Limits, Settings
from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.documents import UniqueTextDocument
from toolkit.emitter import emit_words_async
from toolkit.kinds import ClarifiableTool, OrchestratorActivatedTool
from toolkit.results import ToolExecutionResult
from toolkit.testing.knowledge import MemoryDocument, MemoryKnowledge, MemoryKnowledgeBase
from toolkit.tool import ALL, ChatbotTool, ToolCall

DOMAIN = "hospital"
PARTS = ("egyik", "másik")
"""Sub-queries of each message."""
FIELDS = ("age", "place")
"""What the asking tool asks in each of them, one after the other."""
LOG = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(os.devnull)


def note(*entry: str) -> None:
    """One write, so that a line is whole or not there."""
    line = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(line, json.dumps(entry).encode() + b"\n")
    os.close(line)


def document(text: str) -> UniqueTextDocument:
    return UniqueTextDocument(1, "Rendelés", None, 0, 0, text, 1.0)


class Given(BaseModel):
    age: str | None = None
    place: str | None = None


class Splitting(AbstractOrchestratorTool):
    """Every tool for two sub-queries."""

    name = "splitting"
    domain = DOMAIN

    async def split(self, call: ToolCall) -> list[str]:
        return [f"{call.user_prompt} {part}" for part in PARTS]

    async def pick(self, call: ToolCall, task: Task) -> list[AnyTool]:
        return list(self.scope.tools)


class Quick(OrchestratorActivatedTool[Given]):
    """Beside the tool that asks."""

    name = "quick"
    eligible_system = ALL
    priority = 0
    request_class = Given
    executable_instruction = "quick: always"
    seconds = 0.005

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        note("run", self.name, call.user_prompt)
        await asyncio.sleep(self.seconds)
        note("end", self.name, call.user_prompt)
        return ToolExecutionResult.as_context(self.name, [document(f"{self.name} {call.user_prompt}")])


class After(Quick):
    """Behind the tool that asks."""

    name = "after"
    priority = 5
    executable_instruction = "after: always"
    seconds = 0.02


class Asking(ClarifiableTool[Given]):
    """Asks for all its fields in turn."""

    name = "asking"
    eligible_system = ALL
    priority = 0
    request_class = Given
    executable_instruction = "asking: always"

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        note("run", self.name, call.user_prompt)
        return self._go_on(Given(), call)

    async def execute_with_clarification(
        self, session: ClarificationSession, call: ToolCall
    ) -> ToolExecutionResult:
        note("resume", session.pending_question_id, call.user_prompt)
        await asyncio.sleep(0.01)
        given = Given.model_validate_json(session.partial_request_json)
        return self._go_on(
            given.model_copy(update={session.pending_question_id: session.pending_answer}), call
        )

    def _go_on(self, given: Given, call: ToolCall) -> ToolExecutionResult:
        for field in FIELDS:
            if getattr(given, field) is None:
                question = ClarifyingQuestion(field, f"{call.user_prompt} {field}?", (), allow_free_text=True)
                return ToolExecutionResult.needs_clarification(question, given.model_dump_json(), self.name)
        return ToolExecutionResult.as_context(self.name, [document(f"{given.age}, {given.place}")])


class Telling(ChatbotTool[Given]):
    """Delivers by itself, word by word."""

    name = "telling"
    eligible_system = ALL
    request_class = Given
    executable_instruction = "telling: never"

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        note("run", self.name, call.user_prompt)
        await emit_words_async(call.emitter, f"{call.user_prompt} " * 20, delay=0.01)
        if call.final_callback is not None:
            call.final_callback.on_success(self.name, f"{call.user_prompt} " * 20)
        return ToolExecutionResult.as_answered(self.name)


TOOLS: Iterable[type[ChatbotTool[Any]]] = (
    Quick, After, Asking, Telling, Splitting, CountingTask, RepeatableTask,
)  # fmt: skip


def serve(state: str) -> None:
    """Serve until told to end."""
    limits = Limits(shutdown_seconds=0.1)
    settings = Settings(_env_file=None, state=state, store=LOG.parent / "store", port=0, limits=limits)
    knowledge = MemoryKnowledgeBase(MemoryKnowledge((MemoryDocument("a.txt", "Szöveg."),), domain=DOMAIN))
    app = create_app(settings, knowledge=knowledge, built_ins=TOOLS, plugins=())
    listener = open_listener(settings)

    def ready(url: str) -> None:
        print(json.dumps([os.getpid(), url]), flush=True)

    make_server(settings, app, listener, ready, log_level="warning").run(sockets=[listener])


def main(state: str) -> None:
    """Fork a server for each line; the children's ends are nobody's concern."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while sys.stdin.readline():
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(state)
            return


if __name__ == "__main__":
    main(sys.argv[1])
